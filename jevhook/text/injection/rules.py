"""Rules for what is said to an assistant rather than to a reader.

A passage's words are looked up in a small vocabulary of classes (to ignore, earlier, instruction, assistant, to tell,
user, …), in English and the basics of ten other languages; rules look for classes near each other.  A rule has a kind
and a weight; the best of each kind within ``SPAN`` words add up.  At ``OVERT`` the passage is an order to an assistant;
at ``SUSPECT`` it is worth a second look.  No single word does anything, and what is said of somebody else ("attackers
write …", "you can ignore the …") or quoted in a text about such attacks weighs less.

Kinds: ``override`` (drop your instructions), ``role`` (be somebody without limits), ``address`` (speaks to an AI),
``conceal`` (keep it from the user), ``exfil`` (send what is private), ``prompt`` (show your instructions), ``forged``
(poses as the harness, the system or a turn of the conversation), ``authority`` (claims an approval), ``task`` (a new
task, how to answer), ``decoded`` (said in an encoding or in invisible characters).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

OVERT = 3.0
SUSPECT = 2.0
SPAN = 70  # words

# Classes of words.  A word may be in several.
(
    IGNORE, PREV, ALL, INSTR, RULE, YOUR, SYSTEM, AI, NOTE, READ, SEND, SHOW, SECRET, TELL, NEG, USER, ASK, NEW, TASK,
    FREE, ROLE, SOFT, REPLY, MUST, APPROVED, BEFORE, NOW, YOU, ONLY, THIS, SAFETY, SUMMARY, QUIET, RUN, PRIVATE, ABOUT,
    TO, WITH, WITHOUT, OFF, FOLLOW, TOLD, NEVER, LEAK, WHOLE,
) = (1 << n for n in range(45))  # fmt: skip

_VOCABULARY: tuple[tuple[int, str], ...] = (
    (IGNORE, "ignore ignoring disregard disregarding forget forgetting override overrides overriding bypass discard "
             "neglect supersede supersedes nullify overrule delete erase drop unlearn abandon ignored overridden "
             "ignoriere ignoriert ignorieren ignorier vergiss vergessen vergesst missachte missachten verwirf "
             "ignorez ignorer oublie oubliez oublier ignora ignoren ignorar ignorad olvida olvide olviden olvidar "
             "esqueca esquecer desconsidere desconsidera dimentica dimenticate ignorate negeer vergeet zignoruj zapomnij "
             "\u0438\u0433\u043d\u043e\u0440\u0438\u0440\u0443\u0439 \u0438\u0433\u043d\u043e\u0440\u0438\u0440\u0443\u0439\u0442\u0435 "
             "\u043f\u0440\u043e\u0438\u0433\u043d\u043e\u0440\u0438\u0440\u0443\u0439 \u043f\u0440\u043e\u0438\u0433\u043d\u043e\u0440\u0438\u0440\u0443\u0439\u0442\u0435 "
             "\u0437\u0430\u0431\u0443\u0434\u044c \u0437\u0430\u0431\u0443\u0434\u044c\u0442\u0435 "
             "ignoruj zapomen ignorujte zabudni zanemari zaboravi prezri pozabi ignorera glom bortse glem unohda "
             "ohita hagyd felejtsd ignorati abaikan lupakan puuza sahau ungayinaki ungakunaki khohlwa ungayihoyi "
             "neamhaird dearmad seachad dhiochuimhnich anwybydda anghofia injoro ahaztu oblida ignoreer eira unusta "
             "aizmirsti ignoruok pamirsk hunsadu gleymdu \u03b1\u03b3\u03bd\u03bf\u03b7\u03c3\u03b5 "
             "\u03be\u03b5\u03c7\u03b1\u03c3\u03b5 "
             "\u0456\u0433\u043d\u043e\u0440\u0443\u0439 "
             "\u043f\u0440\u043e\u0456\u0433\u043d\u043e\u0440\u0443\u0439 "
             "\u0437\u0430\u0431\u0440\u0430\u0432\u0438 \u062a\u062c\u0627\u0647\u0644 \u0627\u0646\u0633 "
             "\u05d4\u05ea\u05e2\u05dc\u05dd \u05e9\u05db\u05d7 unutma yoksay"),
    (PREV, "previous prior preceding above earlier foregoing aforementioned existing original initial "
           "vorherigen vorige vorigen bisherigen bisherige obigen vorangegangenen vorhergehenden fruheren vorherige "
           "precedentes precedents precedente precedent anterieures anterieurs dessus anteriores anterior previas previos "
           "previa precedenti vorige eerdere poprzednie "
           "\u043f\u0440\u0435\u0434\u044b\u0434\u0443\u0449\u0438\u0435 \u043f\u0440\u0435\u0434\u044b\u0434\u0443\u0449\u0438\u0445 "
           "\u043f\u0440\u0435\u0436\u043d\u0438\u0435 \u043f\u0440\u0435\u0436\u043d\u0438\u0445 "
           "poprzednich wczesniejsze wczesniejszych predchozi predesle predchadzajuce prethodne prethodnih "
           "prejsnja prejsnjih tidigare foregaende tidligere forrige aiemmat aiemmista edelliset korabbi elozo "
           "anterioare sebelumnya terdahulu yaliyotangulia edlule yangaphambili cheana roimhe roimhseo blaenorol "
           "meparshme meparshmet aurreko anteriors vroeere varasemaid eelnevaid iepriekseejos iepriekskejos "
           "iepriekseos ankstesnius fyrri "
           "\u03c0\u03c1\u03bf\u03b7\u03b3\u03bf\u03c5\u03bc\u03b5\u03bd\u03b5\u03c2 "
           "\u03c0\u03c1\u03bf\u03b7\u03b3\u03bf\u03c5\u03bc\u03b5\u03bd\u03b1 "
           "\u043f\u043e\u043f\u0435\u0440\u0435\u0434\u043d\u0456 "
           "\u043f\u043e\u043f\u0435\u0440\u0435\u0434\u043d\u0456\u0445 "
           "\u043f\u0440\u0435\u0434\u0438\u0448\u043d\u0438 "
           "\u043f\u0440\u0435\u0434\u0438\u0448\u043d\u0438\u0442\u0435 "
           "\u0627\u0644\u0633\u0627\u0628\u0642\u0629 \u05e7\u05d5\u05d3\u05de\u05d5\u05ea "
           "\u05d4\u05e7\u05d5\u05d3\u05de\u05d5\u05ea onceki"),
    (ALL, "all any every everything anything whatever toutes tous tout alle alles samtliche todas todos todo tutte tutti "
          "wszystkie \u0432\u0441\u0435 \u0432\u0441\u0451 \u0432\u0441\u0435\u0445"),
    (INSTR, "instruction instructions intructions directions directive directives prompt prompts guideline guidelines guidance "
            "anweisung anweisungen instruktionen vorgaben consigne consignes instrucciones instruccion indicaciones "
            "instrucoes instrucao orientacoes istruzioni istruzione instructies instrukcje "
            "\u0438\u043d\u0441\u0442\u0440\u0443\u043a\u0446\u0438\u0438 \u0438\u043d\u0441\u0442\u0440\u0443\u043a\u0446\u0438\u0439 "
            "\u0443\u043a\u0430\u0437\u0430\u043d\u0438\u044f \u0443\u043a\u0430\u0437\u0430\u043d\u0438\u0439 "
            "polecenia polecen instrukcji wytyczne pokyny instrukce pokynu upute uputa navodila navodil "
            "instruktioner instruktionerna anvisningar instrukser ohjeet ohjeita maaraykset utasitast utasitasokat "
            "instructiunile instructiuni instruksi arahan petunjuk perintah maagizo imiyalelo imiyalo imithetho "
            "treoracha treoir stiuireadh stiuiridhean cyfarwyddiadau cyfarwyddyd udhezimet udhezime argibide "
            "argibideak instruccions juhiseid korraldusi noradijumus nurodymus fyrirmaeli leidbeiningar "
            "\u03bf\u03b4\u03b7\u03b3\u03b9\u03b5\u03c2 \u03b5\u03bd\u03c4\u03bf\u03bb\u03b5\u03c2 "
            "\u0432\u043a\u0430\u0437\u0456\u0432\u043a\u0438 \u0432\u043a\u0430\u0437\u0456\u0432\u043e\u043a "
            "\u0456\u043d\u0441\u0442\u0440\u0443\u043a\u0446\u0456\u0457 "
            "\u0627\u0644\u062a\u0639\u0644\u064a\u0645\u0627\u062a \u0627\u0644\u0623\u0648\u0627\u0645\u0631 "
            "\u05d4\u05d4\u05d5\u05e8\u05d0\u05d5\u05ea \u05d4\u05d5\u05e8\u05d0\u05d5\u05ea talimatlari "
            "talimatlar talimatlarini"),
    (RULE, "rules orders commands restrictions constraints limitations policies programming safeguards context "
           "conversation information content text messages "
           "regeln befehle regles directives reglas ordenes regras regole regels "
           "\u043f\u0440\u0430\u0432\u0438\u043b\u0430 "
           "requests statements"),
    (YOUR, "your yours deine deinen deiner ihre ihren vos votre tes tus sus tu seu seus suas suoi tuoi le "
           "\u0442\u0432\u043e\u0438 \u0432\u0430\u0448\u0438 "
           "twoje swoje twojego svoje svou tvoje tvojo svoj wakho yakho zako yenu tende tendin zure teva "
           "sinu tavas zinu savo \u00feinn senin \u03c3\u03bf\u03c5 \u0442\u0432\u043e\u0456 "
           "\u0442\u0432\u043e\u0457 \u0441\u0432\u043e\u0457 \u0442\u0432\u043e\u0438\u0442\u0435"),
    (SYSTEM, "system systemprompt systems systeme sistema \u0441\u0438\u0441\u0442\u0435\u043c\u043d\u044b\u0439 "
             "\u0441\u0438\u0441\u0442\u0435\u043c\u043d\u044b\u0435 "
             "systemowy systemowa systemowego systemovou systemovy sustava sistemsko sistemske systemmeddelande "
             "systemmeddelelse systemmelding jarjestelmaviesti rendszeruzenet rendszeruzenetedet sistem mfumo "
             "wesistimu chorais siostaim sistemit sistemi sisteminin "
             "\u03c3\u03c5\u03c3\u03c4\u03b7\u03bc\u03b1\u03c4\u03bf\u03c2 "
             "\u0441\u0438\u0441\u0442\u0435\u043c\u043d\u0435 "
             "\u0441\u0438\u0441\u0442\u0435\u043c\u043d\u043e\u0433\u043e \u0627\u0644\u0646\u0638\u0627\u0645 "
             "\u05d4\u05de\u05e2\u05e8\u05db\u05ea"),
    (AI, "ai llm llms assistant assistants agent agents bot bots chatbot chatbots chatgpt gpt claude copilot codex gemini "
         "summariser summarisers summarizer summarizers ki assistent asistente assistente assistants ia kunstliche "
         "\u0430\u0441\u0441\u0438\u0441\u0442\u0435\u043d\u0442 \u0430\u0441\u0441\u0438\u0441\u0442\u0435\u043d\u0442\u0430 \u0438\u0438"),
    (NOTE, "note notice attention dear hey hello hi message reminder important warning instruction instructions hint "
           "directive memo announcement hinweis achtung attenzione atencion atencao nota remarque urgent "
           "\u0432\u043d\u0438\u043c\u0430\u043d\u0438\u0435"),
    (READ, "read reads reading process processes processing parse parses parsing review reviews reviewing summarize "
           "summarizes summarizing summarise summarises summarising handle handles handling analyze analyzes analyzing "
           "analyse analysing ingest ingesting see sees seeing encounter encounters viewing browsing indexing scanning "
           "lies liest lesen lisant leyendo lendo"),
    (SEND, "send sends sending post posts posting upload uploads uploading email emails emailing mail forward forwards "
           "forwarding exfiltrate transmit leak append include insert copy paste attach put place write embed submit "
           "share publish encode dump deliver report commit push place fetch request call visit "
           "sende schicke senden schicken envoie envoyez envoyer envoie transmets envia envie enviar invia inviare stuur "
           "\u043e\u0442\u043f\u0440\u0430\u0432\u044c \u043e\u0442\u043f\u0440\u0430\u0432\u044c\u0442\u0435 "
           "wyslij przeslij posli odesli posalji poslji skicka sandd skicke laheta kuldd kuldj trimite kirim "
           "kirimkan utume thumela uthumele seol cuir dergo bidali saada nosuti nusiusk sendu gonder yolla "
           "\u03c3\u03c4\u03b5\u03b9\u03bb\u03b5 \u043d\u0430\u0434\u0456\u0448\u043b\u0438 "
           "\u0438\u0437\u043f\u0440\u0430\u0442\u0438 \u0623\u0631\u0633\u0644 \u05e9\u05dc\u05d7"),
    (SHOW, "reveal reveals print prints repeat show display output tell recite disclose leak expose divulge share give "
           "translate write list state spell encode return reproduce paraphrase summarize provide quote copy describe "
           "zeige verrate nenne gib wiederhole revele revelez affiche montre muestra revela repite dime mostre revele "
           "repita mostra rivela ripeti toon \u043f\u043e\u043a\u0430\u0436\u0438 \u0440\u0430\u0441\u043a\u0440\u043e\u0439 "
           "\u043f\u043e\u0432\u0442\u043e\u0440\u0438 \u0432\u044b\u0432\u0435\u0434\u0438 "
           "pokaz ujawnij powtorz ukaz zopakuj prozrad prikazi ponovi upprepa avsloja gentag gjenta nayta toista "
           "mutasd ismeteld repeta tampilkan ulangi onyesha rudia phinda bonisa athdhean taispean aithris "
           "seall dangos trego perserit erakutsi naita paradi atkarto parodyk pakartok syndu goster tekrarla "
           "\u03b4\u03b5\u03b9\u03be\u03b5 \u03b5\u03c0\u03b1\u03bd\u03b1\u03bb\u03b1\u03b2\u03b5 "
           "\u0627\u0643\u0631\u0631 \u0643\u0631\u0631 \u0627\u0639\u0631\u0636 \u05d4\u05e6\u05d2 "
           "\u05d7\u05d6\u05d5\u05e8"),
    (SECRET, "secret secrets token tokens credential credentials password passwords passphrase apikey apikeys key keys "
             "env environment cookie cookies ssh rsa id_rsa passwd kubeconfig history conversation transcript "
             "customer customers confidential geheimnis passwort mot secretos contrasena clave senha chiave "
             "\u043f\u0430\u0440\u043e\u043b\u044c \u043a\u043b\u044e\u0447 \u0442\u043e\u043a\u0435\u043d"),
    (TELL, "tell telling mention mentioning inform informing notify notifying alert alerting disclose disclosing reveal "
           "revealing discuss acknowledge warn warning "
           "sag sage erzahle erwahne informiere dis dites mentionne mentionnez informe informez digas diga menciones "
           "mencione informes avise conte dire dica menzionare "
           "\u0433\u043e\u0432\u043e\u0440\u0438 \u0441\u043e\u043e\u0431\u0449\u0430\u0439 \u0443\u043f\u043e\u043c\u0438\u043d\u0430\u0439 "
           "powiedz informuj rikej rekni nepovedz govori povej fortael fortell kerro ilmoita szolj mondd spune "
           "beritahu mwambie ungamtsheli utshele habair abair trego tregoj esan diguis vertel utle nesaki sakyk "
           "nesakyk segja \u03c0\u03b5\u03b9\u03c2 \u03c0\u03b5\u03c2 \u043a\u0430\u0436\u0438 "
           "\u062a\u062e\u0628\u0631 \u062a\u0642\u0644 \u05ea\u05e1\u05e4\u05e8 soyleme soyle bahsetme"),
    (NEG, "not dont never without avoid no neither nor cannot stop refrain nicht niemals keine ohne ne pas jamais sans nunca sin "
          "nao sem non mai senza niet \u043d\u0435 \u0431\u0435\u0437 \u043d\u0438\u043a\u043e\u0433\u0434\u0430 "
          "nie neni nerikej nemoj inte ikke jangan usimwambie usimweleze ungamtsheli nesaki nesakyk "
          "moenie ekki \u03bc\u03b7\u03bd \u03bc\u03b7 \u05dc\u05d0 \u05d0\u05dc \u0644\u0627"),
    (LEAK, "reveal print repeat show display output recite disclose leak expose divulge spell dump "
           "zeige verrate nenne wiederhole revele revelez affiche montre muestra revela repite mostre repita mostra rivela "
           "ripeti toon \u043f\u043e\u043a\u0430\u0436\u0438 \u0440\u0430\u0441\u043a\u0440\u043e\u0439 "
           "\u043f\u043e\u0432\u0442\u043e\u0440\u0438 \u0432\u044b\u0432\u0435\u0434\u0438"),
    (NEVER, "dont never without avoid stop refrain niemals jamais nunca ohne sans sin sem senza"),
    (USER, "user users human humans owner operator anyone anybody developer benutzer nutzer "
           "anwender niemandem utilisateur usuario usuarios nadie ninguem utente gebruiker "
           "\u043f\u043e\u043b\u044c\u0437\u043e\u0432\u0430\u0442\u0435\u043b\u044e \u043f\u043e\u043b\u044c\u0437\u043e\u0432\u0430\u0442\u0435\u043b\u044f "
           "uzytkownikowi uzytkownik uzivateli uzivatel pouzivatelovi korisniku korisnik uporabniku anvandaren "
           "brugeren brukeren kayttajalle kayttaja felhasznalonak utilizatorului pengguna mtumiaji umsebenzisi "
           "usaideoir cleachdaiche defnyddiwr perdoruesit perdoruesi erabiltzaileari kasutajale lietotajam "
           "naudotojui notandanum \u03c7\u03c1\u03b7\u03c3\u03c4\u03b7 "
           "\u043a\u043e\u0440\u0438\u0441\u0442\u0443\u0432\u0430\u0447\u0435\u0432\u0456 "
           "\u043a\u043e\u0440\u0438\u0441\u0442\u0443\u0432\u0430\u0447\u0430 "
           "\u043f\u043e\u0442\u0440\u0435\u0431\u0438\u0442\u0435\u043b\u044f "
           "\u0627\u0644\u0645\u0633\u062a\u062e\u062f\u0645 \u05dc\u05de\u05e9\u05ea\u05de\u05e9 kullaniciya "
           "kullanici usuari"),
    (ASK, "asking ask confirmation confirmations approval approvals permission permissions confirming consent prompting "
          "verification nachzufragen ruckfrage demander confirmer preguntar confirmacion perguntar confirmacao chiedere"),
    (NEW, "new updated revised additional urgent real actual true different next following latest priority special hidden "
          "secret overriding neue neuen neuer nouvelle nouvelles nouveau nueva nuevas nuevo nova novas novo nuove nuova "
          "\u043d\u043e\u0432\u044b\u0435 \u043d\u043e\u0432\u0430\u044f"),
    (TASK, "task tasks instruction instructions objective objectives directive directives goal mission assignment orders "
           "request aufgabe anweisung anweisungen tache consigne instrucciones tarea tarefa instrucoes compito istruzioni "
           "\u0437\u0430\u0434\u0430\u0447\u0430 \u0438\u043d\u0441\u0442\u0440\u0443\u043a\u0446\u0438\u0438"),
    (FREE, "unrestricted unfiltered uncensored jailbreak jailbroken dan restrictionless limitless amoral unethical "
           "uneingeschrankt restricciones restrictions limitations limits censorship unhinged ethics ethical moral morals illegal "
           "einschrankungen limites limitaciones restricoes restrizioni "
           "\u043e\u0433\u0440\u0430\u043d\u0438\u0447\u0435\u043d\u0438\u0439"),
    (ROLE, "act pretend roleplay role behave simulate simulation impersonate imagine become character persona portray "
           "immerse playing embody emulate"),
    (SOFT, "can may might could cannot cant wont doesnt didnt if unless safely attempts attempt attempted tries trying try "
           "tells says saying said such like asks tricks tricking instructs instructing coerce causing causes makes why how "
           "whether would contain contains containing eg example examples not never dont called named titled quote quoted "
           "let lets wants attackers attacker usually often sometimes also either agreement contract license policy"),
    (REPLY, "respond reply answer response responses replies answers say output print write return begin start end prefix "
            "preface finish close conclude completion message antworte antwort reponds reponse responde respuesta responda "
            "resposta rispondi risposta responding replying answering continuing proceeding summarizing summarising \u043e\u0442\u0432\u0435\u0442 \u043e\u0442\u0432\u0435\u0442\u044c "
            "odpowiedz odpowiedzi odpovez odpovedi odgovori odgovor odgovoru svara svaret svar vastaa "
            "vastauksessasi valaszolj valaszodban raspunde raspunsul jawab jawaban jawabanmu jibu phendula "
            "impendulo empendulweni freagair freagra fhreagra freagairt fhreagairt ateb pergjigju pergjigjen "
            "pergjigjes erantzun respon antwoord vasta vastuses atbildi atsakyk cevap yanitinda yanitla "
            "\u03b1\u03c0\u03b1\u03bd\u03c4\u03b7\u03c3\u03b5 \u03b1\u03c0\u03b1\u03bd\u03c4\u03b7\u03c3\u03b7 "
            "\u0432\u0456\u0434\u043f\u043e\u0432\u0456\u0434\u0430\u0439 "
            "\u0432\u0456\u0434\u043f\u043e\u0432\u0456\u0434\u0456 "
            "\u043e\u0442\u0433\u043e\u0432\u043e\u0440\u0438 \u0623\u062c\u0628 \u0631\u062f\u0643 "
            "\u05e2\u05e0\u05d4"),
    (MUST, "must should shall required need needs have please immediately always now will kindly"),
    (APPROVED, "approved preapproved authorized authorised authorization granted permitted cleared sanctioned allowed "
               "approval genehmigt autorise autorizado autorizzato"),
    (BEFORE, "before prior instead first after until bevor avant antes prima"),
    (NOW, "now henceforth onwards ab desormais ahora agora adesso \u0442\u0435\u043f\u0435\u0440\u044c"),
    (YOU, "you youre du sie vous tu usted ustedes voce lei \u0442\u044b \u0432\u044b"),
    (ONLY, "only just exactly simply nothing solely verbatim nur seulement solo apenas"),
    (THIS, "this these that the diese dies ce cette este esta questo questa"),
    (SAFETY, "safety security safeguards guardrails moderation confirmation approval permission permissions protections "
             "sandbox sicherheit securite seguridad seguranca sicurezza"),
    (SUMMARY, "summary report reply answer response log logs message output final review zusammenfassung resume resumen "
              "resumo riassunto"),
    (QUIET, "silently quietly secretly covertly discreetly secret hidden hide quiet omit exclude confidential heimlich "
            "discretement discretamente secretamente"),
    (RUN, "run execute call invoke open delete remove install download use follow obey comply perform perform visit click "
          "navigate read fetch query modify change disable enable approve merge push grant transfer buy order create "
          "fuhre execute ejecuta executa execute esegui"),
    (PRIVATE, "private internal sensitive confidential personal repository repositories repos"),
    (ABOUT, "injection injections jailbreak jailbreaks jailbreaking attack attacks attacker attackers adversarial malicious "
            "payload payloads vulnerability vulnerabilities exploit exploits phishing threat threats detect detects "
            "detection detector detectors detected guardrail guardrails sanitize sanitization mitigation mitigations "
            "mitigate owasp redteam redteaming poisoning hijack hijacking defend defense defenses classifier heuristics "
            "blocklist denylist regex hacker hackers suspicious untrusted scanner scanners"),
    (TO, "to for an fur a para per pour aan \u0434\u043b\u044f"),
    (WITH, "with as by using mit avec con com"),
    (WITHOUT, "without no ohne sans sin sem senza \u0431\u0435\u0437"),
    (OFF, "disabled off lifted suspended removed skip skipped bypass deactivated disable deaktiviert desactive "
          "desactivado longer"),
    (FOLLOW, "follow obey comply adhere following"),
    (WHOLE, "everything anything whatever"),
    (TOLD, "told said given learned know above before here earlier taught instructed gesagt dit dicho dito detto"),
)  # fmt: skip


def _build() -> dict[bytes, int]:
    made: dict[bytes, int] = {}
    for mask, words in _VOCABULARY:
        for word in words.split():
            key = word.encode()
            made[key] = made.get(key, 0) | mask
    return made


VOCABULARY = _build()

# (id, kind, weight, classes, how near).  With one number the words may stand in any order within so many words of the
# first class; with a tuple they follow one another, each at most so many words behind the one before.  The first class
# is the one a hedge may stand before.
RULES: tuple[tuple[str, str, float, tuple[int, ...], int | tuple[int, ...]], ...] = (
    ("override.earlier", "override", 3.0, (IGNORE, PREV, INSTR), (4, 3)),
    ("override.earlier-behind", "override", 3.0, (IGNORE, INSTR, PREV | TOLD), (4, 3)),
    ("override.earlier-before", "override", 1.8, (PREV, INSTR, IGNORE), (1, 3)),
    ("override.earlier-rules", "override", 2.4, (IGNORE, PREV, RULE), (3, 2)),
    ("override.yours", "override", 3.0, (IGNORE, YOUR | SYSTEM, INSTR), (4, 3)),
    ("override.your-rules", "override", 1.8, (IGNORE, YOUR, RULE), (3, 3)),
    ("override.all", "override", 3.0, (IGNORE, ALL, INSTR), (2, 2)),
    ("override.everything", "override", 2.2, (IGNORE, WHOLE, TOLD | PREV), (1, 4)),
    ("override.all-before", "override", 1.4, (IGNORE, ALL, TOLD | PREV), (1, 4)),
    ("override.above", "override", 1.4, (IGNORE, PREV), (1,)),
    ("override.user", "override", 1.8, (IGNORE, USER, INSTR | RULE), (2, 3)),
    ("override.operator", "override", 1.3, (IGNORE, USER), (2,)),
    ("override.safety", "override", 1.4, (IGNORE, SAFETY, INSTR | RULE), (3, 2)),
    ("override.instructions", "override", 1.4, (IGNORE, INSTR), (3,)),
    ("override.stop-following", "override", 2.2, (NEG, FOLLOW, PREV | YOUR, INSTR | RULE), (2, 4, 3)),
    ("role.free", "role", 2.2, (YOU, NOW, FREE), 12),
    ("role.act", "role", 1.6, (ROLE, FREE), 12),
    ("role.without", "role", 1.0, (WITHOUT, FREE), (3,)),
    ("role.reply-free", "role", 2.0, (REPLY, WITHOUT, FREE), (2, 3)),
    ("role.no-rules", "role", 0.8, (WITHOUT, RULE), (1,)),
    ("role.now", "role", 0.8, (YOU, NOW, ROLE | AI), (3, 4)),
    ("address.note", "address", 1.2, (NOTE, TO, AI), (1, 4)),
    ("address.reading", "address", 1.3, (AI, READ, THIS), (3, 2)),
    ("address.must", "address", 0.8, (AI, MUST, RUN | SEND | SHOW), (4, 3)),
    ("address.any", "address", 0.8, (ALL, AI, READ | MUST), (2, 3)),
    ("conceal.tell", "conceal", 2.0, (NEVER, TELL, USER), (2, 4)),
    ("conceal.not-tell", "conceal", 2.0, (NEG, TELL, USER), (1, 4)),
    ("conceal.not-tell-to", "conceal", 2.0, (NEG, TELL, TO, USER), (1, 4, 2)),
    ("conceal.without-asking", "conceal", 1.2, (WITHOUT, ASK), (2,)),
    ("conceal.stop-asking", "conceal", 1.1, (NEVER, ASK, USER | ASK), (1, 4)),
    ("conceal.this", "conceal", 0.8, (NEVER, TELL, THIS), (2, 2)),
    ("conceal.quietly", "conceal", 0.8, (QUIET, SEND), (2,)),
    ("exfil.secret", "exfil", 0.8, (SEND, SECRET), 9),
    ("exfil.private", "exfil", 0.8, (SEND, PRIVATE), 8),
    ("prompt.your-system", "prompt", 3.0, (LEAK, YOUR, SYSTEM, INSTR), (3, 2, 2)),
    ("prompt.your-first", "prompt", 3.0, (LEAK, YOUR, PREV, INSTR), (3, 1, 2)),
    ("prompt.system", "prompt", 2.2, (SHOW, SYSTEM, INSTR), (5, 2)),
    ("prompt.yours", "prompt", 2.2, (SHOW, YOUR, INSTR), (3, 3)),
    ("prompt.earlier", "prompt", 1.6, (SHOW, PREV, INSTR), (3, 2)),
    ("prompt.instructions", "prompt", 0.8, (SHOW, INSTR), (3,)),
    ("prompt.given", "prompt", 1.4, (INSTR, YOU, TOLD), (2, 3)),
    ("authority.approved", "authority", 1.0, (APPROVED, ALL | NEW, RUN | TASK | ASK | SAFETY), 8),
    ("authority.approved-all", "authority", 1.0, (ALL, NEW, APPROVED), (3, 5)),
    ("authority.safety-off", "authority", 1.5, (OFF, ALL | YOUR | SAFETY, SAFETY), (3, 3)),
    ("authority.safety-is-off", "authority", 1.5, (SAFETY, OFF), (3,)),
    ("task.new", "task", 1.5, (YOUR, NEW, TASK), (1, 1)),
    ("task.reply-with", "task", 1.2, (REPLY, YOUR, REPLY, WITH), (1, 2, 3)),
    ("task.reply-only", "task", 0.8, (REPLY, ONLY), (2,)),
    ("task.before", "task", 1.0, (BEFORE, REPLY | FOLLOW, RUN | SEND), (2, 6)),
    ("task.before-behind", "task", 1.0, (RUN | SEND, BEFORE, REPLY), (9, 2)),
    ("task.in-your", "task", 1.0, (SEND, YOUR, SUMMARY), (8, 2)),
)
_HEDGED = ("override", "prompt", "exfil", "role")

# Texts that pose as what only the harness, a template or the other party of a conversation writes.  Lower case.
_FORGED: tuple[tuple[str, float], ...] = (
    ("<system-reminder", 1.5), ("</system-reminder", 1.5), ("<system>", 1.2), ("</system>", 1.2), ("<|im_start|>", 1.2),
    ("<|im_end|>", 1.0), ("<|system|>", 1.2), ("<|assistant|>", 1.0), ("<|user|>", 1.0), ("<<sys>>", 1.2), ("[inst]", 1.0),
    ("[/inst]", 1.0), ("<|endoftext|>", 1.0), ("<function_calls>", 1.2), ("<invoke name=", 1.2), ("<tool_use>", 1.0),
    ("<tool_result>", 1.0), ("</tool_result>", 1.2), ("<function_results>", 1.2), ("<user-prompt-submit-hook", 1.5),
    ("[system]", 1.0), ("[system message]", 1.4), ("<system_message", 1.2), ("<system-message", 1.4), ("<important>", 0.8),
    ("<<system", 1.0), ("system override", 1.4), ("begin system", 1.0), ("### system", 0.8), ("### instruction", 0.8),
    ("<local-command-stdout", 1.0), ("<command-name>", 0.8), ("<human_turn>", 1.2), ("<admin>", 1.0),
)  # fmt: skip
_TURNS = (
    "system:",
    "assistant:",
    "human:",
    "user:",
    "system message:",
    "system note:",
    "system notice:",
    "developer:",
    "admin:",
    "systemhinweis:",
    "note systeme",
    "nota di sistema:",
    "nota del sistema:",
    "nota do sistema:",
)
_ENDS = ("document", "user input", "input", "data", "context", "file", "prompt", "instructions", "tool output", "email", "article",
         "ambiguity", "content", "text", "tool result")  # fmt: skip

# Whole phrases, any language (folded, lower case); substrings of the text.  (phrase, kind, weight)
_PHRASES: tuple[tuple[str, str, float], ...] = (
    ("if you are an ai", "address", 1.5), ("if you are a language model", "address", 1.5), ("if you are an llm", "address", 1.5),
    ("if you are an assistant", "address", 1.5), ("if you're an ai", "address", 1.5), ("if you are an agent", "address", 1.2),
    ("as an ai language model", "address", 0.8), ("when you read this", "address", 1.2), ("when you process this", "address", 1.2),
    ("when you summarize this", "address", 1.2), ("when you summarise this", "address", 1.2),
    ("when summarizing this", "address", 1.2), ("when you see this", "address", 1.0),
    ("whoever's assistant", "address", 1.5), ("ai tool", "address", 0.4), ("dear ai", "address", 1.2),
    ("from now on", "role", 0.8), ("you are now", "role", 0.6), ("you're now", "role", 0.6), ("act as a", "role", 0.6),
    ("pretend to be", "role", 0.8), ("pretend that you", "role", 0.8), ("pretend you are", "role", 1.0),
    ("you are going to", "role", 0.6), ("you will act", "role", 1.0), ("stay in character", "role", 1.2),
    ("in character", "role", 0.4), ("do anything now", "role", 2.0), ("developer mode", "role", 1.0), ("dan mode", "role", 1.5),
    ("god mode", "role", 1.0), ("unrestricted mode", "role", 1.5), ("no longer bound", "role", 1.2),
    ("hypothetical response", "role", 1.0), ("jailbroken", "role", 1.0), ("role of a", "role", 0.5),
    ("free from all", "role", 0.8), ("free of all", "role", 0.8), ("not bound by", "role", 1.0), ("never refuse", "role", 0.8),
    ("without any restrictions", "role", 0.8), ("no ethical", "role", 0.8), ("admin mode", "role", 0.8), ("debug mode", "role", 0.3),
    ("as if nothing", "conceal", 0.8), ("say nothing about", "conceal", 1.0), ("do not explain", "conceal", 0.3),
    ("long-term memory", "task", 0.5), ("for all future", "task", 0.6), ("every future", "task", 0.6), ("word for word", "prompt", 0.4),
    ("no need to bring this up", "conceal", 1.0), ("no need to mention", "conceal", 1.0), ("keep this between us", "conceal", 1.5),
    ("keep this secret", "conceal", 1.5), ("keep this hidden", "conceal", 1.5), ("keep it secret", "conceal", 1.2),
    ("out of its summary", "conceal", 2.0), ("out of your summary", "conceal", 2.0), ("out of the summary", "conceal", 1.5),
    ("out of your reply", "conceal", 2.0), ("out of your report", "conceal", 2.0), ("out of the report", "conceal", 1.2),
    ("hereby instructed", "address", 1.0), ("decode it", "decoded", 0.8), ("decode this", "decoded", 0.8), ("decode the", "decoded", 0.6),
    ("do exactly what it says", "task", 1.6), ("follow the instruction inside", "task", 1.6), ("then execute it", "task", 0.8),
    ("no questions", "conceal", 0.6), ("without question", "conceal", 0.6), ("ignore the user", "override", 2.0),
    ("are no longer", "role", 0.6), ("system instructions", "prompt", 0.5), ("from the user", "conceal", 0.3), ("behind the scenes", "conceal", 0.2), ("without the user", "conceal", 1.0),
    ("without their knowledge", "conceal", 1.5), ("ohne den benutzer", "conceal", 1.2),
    ("new instructions", "task", 1.2), ("new instruction", "task", 1.2), ("updated instructions", "task", 1.0),
    ("additional instructions", "task", 0.6), ("your real task", "task", 2.0), ("your actual task", "task", 1.5),
    ("your new task", "task", 2.0), ("your task is", "task", 0.6), ("neue anweisungen", "task", 1.2),
    ("nouvelles instructions", "task", 1.2), ("nuevas instrucciones", "task", 1.2), ("novas instrucoes", "task", 1.2),
    ("nuove istruzioni", "task", 1.2), ("say nothing else", "task", 1.2), ("nothing else", "task", 0.4),
    ("follow these instructions", "task", 0.6), ("follow the instructions below", "task", 0.5),
    ("following instructions", "task", 0.4), ("must comply", "task", 0.8), ("begin your response", "task", 1.4),
    ("start your response", "task", 1.4), ("end your response", "task", 1.4), ("begin your reply", "task", 1.4),
    ("start your reply", "task", 1.4), ("start your answer", "task", 1.4), ("close your answer", "task", 1.4),
    ("your response must", "task", 0.8), ("your response with", "task", 1.0), ("your answer with", "task", 1.0),
    ("your reply with", "task", 1.0), ("your summary with", "task", 1.2), ("instead of summarizing", "task", 1.2),
    ("words above", "prompt", 1.2), ("text above", "prompt", 0.8), ("everything above", "prompt", 1.0),
    ("above this line", "prompt", 0.8), ("starting with 'you are", "prompt", 2.2), ('starting with "you are', "prompt", 2.2),
    ("what are your instructions", "prompt", 2.0), ("what were your instructions", "prompt", 2.0), ("your system prompt", "prompt", 0.8),
    ("your initial prompt", "prompt", 1.0), ("your original prompt", "prompt", 1.0), ("your prompt", "prompt", 0.6),
    ("your instructions", "prompt", 0.5),
    ("pre-approved", "authority", 0.8), ("preapproved", "authority", 0.8), ("already been approved", "authority", 0.8),
    ("already approved", "authority", 0.8), ("user has granted", "authority", 1.4), ("user has approved", "authority", 1.4),
    ("user has already approved", "authority", 1.6), ("user already approved", "authority", 1.6),
    ("user has authorized", "authority", 1.4), ("no confirmation is needed", "authority", 1.2),
    ("no confirmation needed", "authority", 1.2), ("skip all safety", "authority", 1.8), ("proceed without", "authority", 0.8),
    ("dangerously-skip-permissions", "authority", 0.4), ("authorized by the", "authority", 0.5),
    ("exfiltrate", "exfil", 0.6), ("attacker@", "exfil", 0.8), ("evil.", "exfil", 0.3),
)  # fmt: skip

# Languages without spaces (and Korean): every part must be there, within 40 characters of the first.
_GLYPHS: tuple[tuple[str, str, float, tuple[tuple[str, ...], ...]], ...] = (
    ("override.zh", "override", 3.0, (("\u5ffd\u7565", "\u65e0\u89c6", "\u7121\u8996", "\u5fd8\u8bb0", "\u5fd8\u6389", "\u4e0d\u8981\u7406\u4f1a", "\u4e0d\u7406\u4f1a", "\u62ab\u5f03", "\u62cb\u5f03", "\u5ffd\u89c6"),
                                     ("\u4e4b\u524d", "\u4ee5\u4e0a", "\u5148\u524d", "\u4e0a\u8ff0", "\u524d\u9762", "\u6240\u6709", "\u4e0a\u9762", "\u4f60\u7684"),
                                     ("\u6307\u4ee4", "\u6307\u793a", "\u8bf4\u660e", "\u63d0\u793a", "\u89c4\u5219", "\u547d\u4ee4", "\u898f\u5247", "\u8981\u6c42"))),
    ("override.ja", "override", 3.0, (("\u7121\u8996", "\u5fd8\u308c", "\u5f93\u308f\u306a\u3044", "\u7834\u68c4"), ("\u4ee5\u524d", "\u3053\u308c\u307e\u3067", "\u4e0a\u8a18", "\u524d\u306e", "\u5168\u3066", "\u3059\u3079\u3066", "\u5148\u306e"),
                                     ("\u6307\u793a", "\u547d\u4ee4", "\u30d7\u30ed\u30f3\u30d7\u30c8", "\u6307\u4ee4", "\u30eb\u30fc\u30eb"))),
    ("override.ko", "override", 3.0, (("\ubb34\uc2dc", "\uc78a\uc5b4", "\uc78a\uc73c"), ("\uc774\uc804", "\uc704\uc758", "\uae30\uc874", "\ubaa8\ub4e0", "\uc55e\uc758", "\uc9c0\uae08\uae4c\uc9c0"),
                                     ("\uc9c0\uc2dc", "\uba85\ub839", "\uc9c0\uce68", "\ud504\ub86c\ud504\ud2b8", "\uaddc\uce59"))),
    ("prompt.zh", "prompt", 2.2, (("\u663e\u793a", "\u8f93\u51fa", "\u900f\u9732", "\u6cc4\u9732", "\u544a\u8bc9\u6211", "\u6253\u5370", "\u91cd\u590d"), ("\u7cfb\u7edf\u63d0\u793a", "\u521d\u59cb\u63d0\u793a", "\u4f60\u7684\u6307\u4ee4", "\u4f60\u7684\u63d0\u793a"))),
    ("prompt.ja", "prompt", 2.2, (("\u8868\u793a", "\u51fa\u529b", "\u6559\u3048", "\u660e\u304b"), ("\u30b7\u30b9\u30c6\u30e0\u30d7\u30ed\u30f3\u30d7\u30c8", "\u3042\u306a\u305f\u306e\u6307\u793a"))),
    ("prompt.ko", "prompt", 2.2, (("\ubcf4\uc5ec", "\ucd9c\ub825", "\uc54c\ub824", "\uacf5\uac1c"), ("\uc2dc\uc2a4\ud15c \ud504\ub86c\ud504\ud2b8", "\ub2f9\uc2e0\uc758 \uc9c0\uc2dc"))),
    ("conceal.zh", "conceal", 2.0, (("\u4e0d\u8981", "\u522b", "\u52ff", "\u4e0d\u5f97"), ("\u544a\u8bc9", "\u63d0\u53ca", "\u901a\u77e5", "\u8ba9", "\u63d0\u5230"), ("\u7528\u6237", "\u4f7f\u7528\u8005", "\u4efb\u4f55\u4eba", "\u4e3b\u4eba"))),
    ("conceal.ja", "conceal", 2.0, (("\u30e6\u30fc\u30b6\u30fc", "\u5229\u7528\u8005", "\u4f7f\u7528\u8005"), ("\u4f1d\u3048\u306a\u3044", "\u77e5\u3089\u305b\u306a\u3044", "\u8a00\u308f\u306a\u3044", "\u8a00\u53ca\u3057\u306a\u3044", "\u5831\u544a\u3057\u306a\u3044"))),
    ("conceal.ko", "conceal", 2.0, (("\uc0ac\uc6a9\uc790",), ("\uc54c\ub9ac\uc9c0", "\ub9d0\ud558\uc9c0", "\uc5b8\uae09\ud558\uc9c0"), ("\ub9c8", "\ub9d0"))),
    ("address.zh", "address", 1.3, (("ai", "\u4eba\u5de5\u667a\u80fd", "\u52a9\u624b", "\u6a21\u578b"), ("\u6ce8\u610f", "\u8bf7", "\u5fc5\u987b", "\u5982\u679c\u4f60\u662f"), ("\u53d1\u9001", "\u6267\u884c", "\u8fd0\u884c", "\u8bfb\u53d6", "\u4e0a\u4f20", "\u5220\u9664", "\u8c03\u7528", "\u56de\u590d"))),
    ("address.ja", "address", 1.3, (("ai", "\u30a2\u30b7\u30b9\u30bf\u30f3\u30c8", "\u4eba\u5de5\u77e5\u80fd"), ("\u9001\u4fe1", "\u5b9f\u884c", "\u8aad\u307f\u53d6", "\u524a\u9664", "\u8fd4\u4fe1", "\u30a2\u30c3\u30d7\u30ed\u30fc\u30c9"), ("\u304f\u3060\u3055\u3044", "\u305b\u3088", "\u3057\u306a\u3055\u3044", "\u3057\u3066"))),
    ("exfil.zh", "exfil", 1.2, (("\u53d1\u9001", "\u4e0a\u4f20", "\u6cc4\u9732", "\u590d\u5236"), ("\u5bc6\u7801", "\u5bc6\u94a5", "\u4ee4\u724c", "\u51ed\u636e", "\u73af\u5883\u53d8\u91cf", "\u79c1\u94a5", "token"))),
    ("role.zh", "role", 1.5, (("\u4f60\u73b0\u5728\u662f", "\u4ece\u73b0\u5728\u5f00\u59cb", "\u626e\u6f14"), ("\u6ca1\u6709\u9650\u5236", "\u4e0d\u53d7\u9650\u5236", "\u65e0\u9650\u5236", "\u8d8a\u72f1", "\u5f00\u53d1\u8005\u6a21\u5f0f", "\u4e0d\u53d7\u4efb\u4f55"))),
    ("address.ko", "address", 1.3, (("ai", "\uc5b4\uc2dc\uc2a4\ud134\ud2b8", "\uc778\uacf5\uc9c0\ub2a5"), ("\uc804\uc1a1", "\uc2e4\ud589", "\uc77d\uc5b4", "\uc0ad\uc81c", "\ubcf4\ub0b4"))),
)  # fmt: skip

_SPLIT = bytes(c if (chr(c).isalnum() and c < 128) or c > 127 else 32 for c in range(256))
for _c in range(65, 91):
    _SPLIT = _SPLIT[:_c] + bytes((_c + 32,)) + _SPLIT[_c + 1 :]


def words(text: str) -> list[bytes]:
    """The words of a folded text: lower case, without apostrophes; what is no letter or digit parts them."""
    if "acker@" in text:  # the example address of an attack is no talk about attacks
        text = text.replace("attacker@", "somebody@").replace("hacker@", "somebody@")
    if text.isascii():
        return text.encode().translate(_SPLIT, b"'").split()
    return text.lower().encode("utf-8", "replace").translate(_SPLIT, b"'").split()


class Hit:
    """One rule that spoke: its ``id``, ``kind``, ``weight`` and the word it speaks about (-1: the passage)."""

    __slots__ = ("at", "id", "kind", "weight")

    def __init__(self, id: str, kind: str, weight: float, at: int) -> None:
        self.id = id
        self.kind = kind
        self.weight = weight
        self.at = at


def classes(tokens: Sequence[bytes]) -> list[int]:
    """For every word the classes it is in, 0 for most."""
    get = VOCABULARY.get
    return [get(token, 0) for token in tokens]


def look(text: str, tokens: Sequence[bytes], masks: list[int]) -> list[Hit]:
    """All rules that speak about a folded passage, hedged ones at a third of their weight."""
    places = [(at, mask) for at, mask in enumerate(masks) if mask]
    if "ignore" in text and (pragmas := _pragmas(text)):
        places = [(at, mask & ~IGNORE if at in pragmas else mask) for at, mask in places]
    present = 0
    for _, mask in places:
        present |= mask
    hits: list[Hit] = []
    for name, kind, weight, needed, span in RULES:
        if present & needed[0] and present & needed[-1] and all(present & part for part in needed):
            at = _find(places, needed, span)
            if at >= 0:
                hits.append(_of_programs(_of_another(Hit(name, kind, weight, at), tokens), tokens))
    if hits and present & SOFT:
        hits = [_hedged(hit, masks, places) for hit in hits]
    lowered = text.lower()
    for phrase, kind, weight in _PHRASES:
        if phrase in lowered:
            hits.append(Hit("phrase." + kind, kind, weight, _word_at(lowered, phrase, tokens)))
    _forged(lowered, text, hits)
    if present & AI:
        _called(lowered, hits)
    if not text.isascii():
        _glyphs(lowered, hits)
    if "](http" in lowered:
        _images(text, lowered, hits)
    return hits


def _find(places: list[tuple[int, int]], needed: tuple[int, ...], span: int | tuple[int, ...]) -> int:
    """The word of the first class where all classes are found by different words near enough, or -1."""
    head = needed[0]
    for index, (at, mask) in enumerate(places):
        if not mask & head:
            continue
        if not isinstance(span, int):
            if _follows(places, index + 1, at, span, needed, 1):
                return at
            continue
        low = index
        while low and places[low - 1][0] >= at - span:
            low -= 1
        high = index + 1
        while high < len(places) and places[high][0] <= at + span:
            high += 1
        if _all_differ([m for i, (_, m) in enumerate(places[low:high], low) if i != index], needed[1:]):
            return at
    return -1


def _follows(
    places: list[tuple[int, int]], index: int, at: int, gaps: tuple[int, ...], needed: tuple[int, ...], step: int
) -> bool:
    if step == len(needed):
        return True
    limit = at + gaps[step - 1]
    while index < len(places) and places[index][0] <= limit:
        where, mask = places[index]
        index += 1
        if mask & needed[step] and _follows(places, index, where, gaps, needed, step + 1):
            return True
    return False


def _all_differ(near: list[int], needed: tuple[int, ...]) -> bool:
    if not needed:
        return True
    for index, mask in enumerate(near):
        if mask & needed[0] and _all_differ(near[:index] + near[index + 1 :], needed[1:]):
            return True
    return False


def _hedged(hit: Hit, masks: list[int], places: list[tuple[int, int]]) -> Hit:
    """An order that somebody is said to give, or that need not be followed, is no order."""
    if hit.kind not in _HEDGED:
        return hit
    for at in range(max(0, hit.at - 3), hit.at):
        if masks[at] & SOFT and not (masks[at] & NEG and hit.id == "override.stop-following"):
            return Hit(hit.id + "~", hit.kind, hit.weight / 3, hit.at)
    return hit


_NOBODYS = frozenset((b"a", b"an", b"its", b"their", b"his", b"her"))


def _of_another(hit: Hit, tokens: Sequence[bytes]) -> Hit:
    """ "Write a system prompt", "reveal its instructions": not the reader's."""
    if hit.kind == "prompt" and any(token in _NOBODYS for token in tokens[hit.at + 1 : hit.at + 3]):
        return Hit(hit.id + "~", hit.kind, hit.weight / 3, hit.at)
    return hit


# What is done to data and code far more often than to what one was told.
_ERASING = frozenset(
    (b"delete", b"deleted", b"erase", b"drop", b"dropped", b"discard", b"override", b"overrides", b"bypass")
)
_TOLD = frozenset((b"instructions", b"directives", b"guidelines", b"guidance", b"prompt", b"prompts", b"rules", b"orders",
                   b"programming", b"restrictions", b"safeguards", b"told"))  # fmt: skip


def _of_programs(hit: Hit, tokens: Sequence[bytes]) -> Hit:
    """What a program does or a database holds: "delete the preceding text", "drop the instructions before the loop",
    "ignore user site-packages", "that role must have … these restrictions"."""
    if hit.id == "role.act":
        of_programs = tokens[hit.at] == b"role" and tokens[hit.at + 1 : hit.at + 2] != [b"of"]
    elif hit.kind != "override":
        return hit
    elif hit.id == "override.safety" and tokens[max(0, hit.at - 2) : hit.at] in (
        [b"this", b"will"],
        [b"option", b"will"],
    ):
        of_programs = True  # "this will bypass all security restrictions"
    elif tokens[hit.at] in _ERASING:
        behind = tokens[hit.at + 1 : hit.at + 9]
        noun = next((n for n, token in enumerate(behind) if token in _TOLD), -1)
        whose = PREV | YOUR | ALL | SYSTEM | SAFETY
        of_programs = noun < 0 or not any(VOCABULARY.get(token, 0) & whose for token in behind[: noun + 1])
    else:
        of_programs = hit.id == "override.operator" and bool(VOCABULARY.get(tokens[hit.at + 1], 0) & USER)
    return Hit(hit.id + "~", hit.kind, hit.weight / 3, hit.at) if of_programs else hit


_STOPS = ".!?;\u3002\uff01\uff1f\uff1b"


def _pragmas(text: str) -> set[int]:
    """The words "ignore" that are said to a checker: ``# type: ignore[attr]``, ``# type: ignore`` before a line of code."""
    found = set()
    at = text.find("ignore")
    while at >= 0:
        behind = text[at + 6 : at + 80]
        if behind[:1] == "[" or behind[:1] == "\n":
            said = text[max(0, at - 12) : at].rstrip()
            line = behind.partition("\n")[2].lstrip() if behind[0] == "\n" else ""
            if said.endswith(("type:", "pyright:", "mypy:", "ty:")) and line[:1] not in ("#", "/", "*", "<"):
                found.add(len(words(text[:at])))
        at = text.find("ignore", at + 6)
    return found


def _word_at(lowered: str, phrase: str, tokens: Sequence[bytes]) -> int:
    return len(words(lowered[: lowered.find(phrase)]))


def _forged(lowered: str, text: str, hits: list[Hit]) -> None:
    best = 0.0
    where = -1
    if "<" in lowered or "[" in lowered or "#" in lowered or "system" in lowered:
        for mark, weight in _FORGED:
            if weight > best and mark in lowered:
                best, where = weight, lowered.find(mark)
    if ":" in lowered:
        for turn in _TURNS:
            at = lowered.find(turn)
            while at >= 0 and best < 1.4:
                line = lowered.rfind("\n", 0, at) + 1
                if not lowered[line:at].strip(" \t*#->[(\"'`/|"):
                    loud = (
                        text[at : at + len(turn)].isupper() or "message" in turn or "note" in turn or "notice" in turn
                    )
                    weight = (1.2 if loud else 0.5) if turn[0] in "sd" else 0.5
                    if weight > best:
                        best, where = weight, at
                at = lowered.find(turn, at + 1)
    if best < 1.0 and "end " in lowered:
        for end in _ENDS:
            for form in ("end of " + end, "end " + end):
                at = lowered.find(form)
                if at >= 0 and (
                    lowered[max(0, at - 4) : at].strip(" \n") in ("---", "===", "***", "%%%", "--", "##", "[", "<")
                    or text[at : at + 3] == "END"
                ):
                    best, where = max(best, 1.0), at
    if best:
        hits.append(Hit("forged", "forged", best, len(words(lowered[:where]))))


_CALLED = (
    "ai", "llm", "copilot", "claude", "codex", "gemini", "chatgpt", "gpt", "ai agents", "ai agent", "ai reviewers", "ai reviewer",
    "ai assistant", "ai assistants", "ai models", "language model", "language models", "llms", "summarisers", "summarizers", "attention llm",
    "attention ai", "coding agents", "automated agents", "dear agent", "hey assistant", "hello assistant",
)  # fmt: skip


def _called(lowered: str, hits: list[Hit]) -> None:
    """A line or sentence that begins by calling an assistant: "AI reviewers: ...", "Copilot, please ..."."""
    for name in _CALLED:
        at = lowered.find(name)
        while at >= 0:
            end = at + len(name)
            if lowered[end : end + 1] in (":", ",", "!") and lowered[end + 1 : end + 2] == " ":
                before = lowered[max(0, at - 2) : at].strip(" \t*_([#<!-\"'")
                if before in ("", ".", "\n", ":", "?") and (at == 0 or not lowered[at - 1].isalnum()):
                    hits.append(Hit("address.called", "address", 1.0, len(words(lowered[:at]))))
                    return
            at = lowered.find(name, end)


def _sentence(text: str, at: int) -> str:
    """The part of a text around ``at`` up to the signs that end a sentence or a clause of a list."""
    start = max(text.rfind(end, 0, at) for end in _STOPS) + 1
    ends = [found for end in _STOPS if (found := text.find(end, at)) >= 0]
    return text[max(start, at - 20) : min([at + 20, *ends])]


def _glyphs(lowered: str, hits: list[Hit]) -> None:
    for name, kind, weight, parts in _GLYPHS:
        for first in parts[0]:
            at = lowered.find(first)
            if at < 0:
                continue
            around = lowered[max(0, at - 40) : at + 40]
            if kind == "override":  # in one breath: manuals have all three words within eighty characters
                around = _sentence(around, min(at, 40))
            if name == "conceal.zh" and "\u5bc6\u7801" in around:
                continue  # nobody is to be told a password
            if all(any(word in around for word in part) for part in parts[1:]):
                hits.append(Hit(name, kind, weight, -1))
                break


def _images(text: str, lowered: str, hits: list[Hit]) -> None:
    """An image whose address is to be filled with what was seen: the viewer's fetch carries it away."""
    at = lowered.find("](http")
    if at < 0 or "![" not in text:
        return
    address = text[at + 2 : at + 300].partition(")")[0]
    query = address.partition("?")[2]
    if not query:
        return
    around = lowered[max(0, at - 300) : at + 500]
    filled = any(word in around for word in ("base64", "encode", "replac", "where data", "fill in", "insert"))
    private = any(
        word in around for word in ("key", "secret", "token", "conversation", "password", "credential", "history")
    )
    weight = 2.0 if filled and private else 0.0
    for part in query.split("&"):
        name = part.partition("=")[2].strip("[]{}<>$ ")
        # A blank in capitals that the text then speaks about: "?q=[DATA], where DATA is ..."
        if len(name) > 2 and name.isalpha() and name.isupper() and text.count(name) > 1:
            weight = 2.4
    if weight:
        hits.append(Hit("exfil.image", "exfil", weight, len(words(lowered[:at]))))


def weigh(hits: list[Hit], span: int = SPAN) -> tuple[float, list[Hit]]:
    """The most that the best of each kind add up to within ``span`` words, and those hits, heaviest first.

    Hits that speak about the whole passage (word -1) count everywhere.
    """
    best: float = 0.0
    chosen: list[Hit] = []
    for start in hits:
        kinds: dict[str, Hit] = {}
        for hit in hits:
            if hit.at >= 0 and start.at >= 0 and not start.at <= hit.at <= start.at + span:
                continue
            known = kinds.get(hit.kind)
            if known is None or hit.weight > known.weight:
                kinds[hit.kind] = hit
        total = sum(hit.weight for hit in kinds.values())
        if total > best:
            best, chosen = total, list(kinds.values())
    return best, sorted(chosen, key=lambda hit: -hit.weight)
