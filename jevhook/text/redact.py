"""Redaction: what is secret in a text becomes ``[redacted]`` before the text goes anywhere.

Names, flags, hosts, paths, git hashes and UUIDs stay readable, and so do references (``$X``, ``${X}``, ``%X%``,
``$(…)``): they name a secret without being one.  Three ways to see a secret: the value of a secret-like name
(``NAME=value``, headers, flags, JSON at any depth of escaping, YAML, XML, query parameters), a shape that some issuer
uses for its keys, and the values of the environment's own secret variables.

Every pattern takes linear time.  ``re`` and each pattern are only loaded when a cheap look at the text calls for them:
most commands hold nothing that could be a secret, and pay microseconds.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Mapping
    from typing import Any

MARKER = "[redacted]"
MAX_DEPTH = 12
_LOOK = 200


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# ---------------------------------------------------------------------------------------------------------- names

_WORDS = _set(
    "password passwords passwd passphrase passcode passwort pwd pass secret secrets token apikey apikeys credential "
    "credentials creds bearer jwt authorization cookie cookies storepass keypass srcstorepass deststorepass sshpass "
    "phpsessid jsessionid"
)
_ENDINGS = (
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "apikey",
    "secret",
    "token",
    "secretkey",
    "privatekey",
    "accesskey",
    "authkey",
    "accountkey",
    "signingkey",
    "encryptionkey",
    "masterkey",
)
_BEFORE_KEY = _set(
    "api access secret private signing encryption account master auth service deploy license app application "
    "subscription shared admin hmac webhook jwt rsa cipher crypto"
)
_WEAK = _set("auth sig signature pat key session")
# A name that ends so speaks of a secret without holding it.
_HARMLESS_LAST = _set(
    "count counts counter file files filename path paths dir directory name names type types url urls uri uris "
    "endpoint host length len limit limits budget max min size sizes expiry expires expiration ttl age at in ids id "
    "arn policy policies reset form field fields label hint regex pattern validator validation manager provider "
    "service store helper handler parser class page view prompt generator rotation version status state error errors "
    "required enabled disabled present exists valid scope scopes usage used index ref stdin env var variable command "
    "cmd script kind prefix suffix ring chain iter stream list map server port mode strength checker jar model schema "
    "rule rules test tests spec py js ts tsx jsx txt json yaml yml md html css go rs rb java sh log csv toml cfg ini "
    "lock total estimate estimator ratio rate per window bucket position offset span split stats metadata info config "
    "options settings format algorithm method function source reader writer loader exchange request response callback "
    "created updated date time timestamp"
)
_HARMLESS_FIRST = _set("has is no needs requires require show hide use allow disable enable validate")
_NO_TOKEN = _set(
    "next page pagination continuation sync eos bos pad unk mask sep cls cancellation cancel stop special start end "
    "first last max min num per prompt completion input output total expected unexpected design syntax parse prev "
    "previous control delimiter punctuation operator keyword"
)

NO, WEAK, SECRET, WIDE = 0, 1, 2, 3
_ranks: dict[str, int] = {}


def known() -> int:
    """How many words have been looked at; for ``forget``."""
    return len(_ranks)


def forget(beyond: int) -> None:
    """What was looked at since ``known`` said ``beyond``: a token without an end of a name before it is a word, too."""
    while len(_ranks) > beyond:
        _ranks.popitem()


def _words(name: str) -> list[str]:
    found: list[str] = []
    start, last = 0, len(name)
    for at in range(last + 1):
        char = name[at] if at < last else "-"
        if not char.isalnum():
            if at > start:
                found.append(name[start:at])
            start = at + 1
        elif at > start and char.isupper():
            after = name[at + 1] if at + 1 < last else ""
            if not name[at - 1].isupper() or after.islower():
                found.append(name[start:at])
                start = at
    return [word.lower().rstrip("0123456789") or word for word in found]


def _rank(name: str) -> int:
    """NO, WEAK (only a random-looking value is a secret), SECRET, or WIDE (a header whose value has spaces)."""
    known = _ranks.get(name)
    if known is not None:
        return known
    rank = _rank_words(_words(name[-200:]), name)
    if len(_ranks) < 4096:
        _ranks[name] = rank
    return rank


def _rank_words(words: list[str], name: str) -> int:
    if not words:
        return NO
    last = words[-1]
    if last.isdigit() and len(words) > 1:
        words = words[:-1]
        last = words[-1]
    if words[0] in _HARMLESS_FIRST and len(words) > 1:
        return NO
    if last in _HARMLESS_LAST and not (last == "id" and len(words) > 1 and words[-2] == "secret"):
        return NO
    if name in ("PWD", "OLDPWD") or last == "oldpwd":
        return NO
    rank = NO
    for at, word in enumerate(words):
        before = words[at - 1] if at else ""
        if word in ("key", "keys"):
            if before in _BEFORE_KEY:
                rank = SECRET
        elif word in _WORDS or word.endswith(_ENDINGS):
            if word == "token" and before in _NO_TOKEN:
                continue
            rank = SECRET
    if rank and last in ("authorization", "cookie", "cookies"):
        return WIDE
    if rank:
        return rank
    if last == "auth" and words[0] == "x":
        return SECRET
    return WEAK if last in _WEAK else NO


def is_secret_name(name: str) -> bool:
    """Whether a value under this name (variable, key, header, flag) is to be taken for a secret."""
    return _rank(name) >= SECRET


# --------------------------------------------------------------------------------------------------------- shapes

# (what must be in the text, its tail, whether the start must not follow a letter or digit).  Sources: the issuers'
# own documents on secret scanning.  The literal comes first in the pattern, so that a search is a plain string search.
_SHAPES: tuple[tuple[str, str, bool], ...] = (
    ("ghp_", r"\w{16,}", False),
    ("gho_", r"\w{16,}", False),
    ("ghu_", r"\w{16,}", False),
    ("ghs_", r"\w{16,}", False),
    ("ghr_", r"\w{16,}", False),
    ("github_pat_", r"\w{16,}", False),
    ("glpat-", r"[\w.-]{16,}", False),
    ("glptt-", r"[\w.-]{16,}", False),
    ("gldt-", r"[\w.-]{16,}", False),
    ("glrt-", r"[\w.-]{16,}", False),
    ("glcbt-", r"[\w.-]{16,}", False),
    ("gloas-", r"[\w.-]{16,}", False),
    ("xoxa-", r"[\w-]{10,}", False),
    ("xoxb-", r"[\w-]{10,}", False),
    ("xoxc-", r"[\w-]{10,}", False),
    ("xoxd-", r"[\w%/+=-]{10,}", False),
    ("xoxe-", r"[\w-]{10,}", False),
    ("xoxe.", r"[\w.-]{10,}", False),
    ("xoxo-", r"[\w-]{10,}", False),
    ("xoxp-", r"[\w-]{10,}", False),
    ("xoxr-", r"[\w-]{10,}", False),
    ("xoxs-", r"[\w-]{10,}", False),
    ("xapp-", r"[\w-]{10,}", False),
    ("AKIA", r"[A-Z0-9]{16}(?![A-Za-z0-9])", True),
    ("ASIA", r"[A-Z0-9]{16}(?![A-Za-z0-9])", True),
    ("AIza", r"[\w-]{30,}", False),
    ("ya29.", r"[\w.-]{16,}", True),
    ("GOCSPX-", r"[\w-]{16,}", False),
    ("sk_live_", r"\w{10,}", False),
    ("sk_test_", r"\w{10,}", False),
    ("rk_live_", r"\w{10,}", False),
    ("rk_test_", r"\w{10,}", False),
    ("whsec_", r"[\w+/=-]{16,}", False),
    ("npm_", r"[A-Za-z0-9]{30,}", True),
    ("pypi-AgE", r"[\w-]{16,}", False),
    ("pypi-", r"[\w-]{50,}", True),
    ("hf_", r"[A-Za-z0-9]{20,}", True),
    ("api_org_", r"[A-Za-z0-9]{20,}", True),
    ("SG.", r"[\w-]{16,64}\.[\w-]{16,}", True),
    ("SK", r"[0-9a-f]{32}(?![A-Za-z0-9])", True),
    (":AA", r"[\w-]{30,}", False),
    ("dop_v1_", r"\w{32,}", False),
    ("doo_v1_", r"\w{32,}", False),
    ("dor_v1_", r"\w{32,}", False),
    ("dapi", r"[0-9a-f]{32}(?:-\d)?(?![A-Za-z0-9])", True),
    ("AGE-SECRET-KEY-", r"[A-Za-z0-9]{20,}", False),
    ("r8_", r"[A-Za-z0-9]{30,}", True),
    ("gsk_", r"[A-Za-z0-9]{20,}", True),
    ("xai-", r"[A-Za-z0-9]{20,}", True),
    ("pplx-", r"[A-Za-z0-9]{20,}", True),
    ("tvly-", r"[\w-]{20,}", True),
    ("lin_api_", r"\w{20,}", True),
    ("ntn_", r"[A-Za-z0-9]{30,}", True),
    ("secret_", r"[A-Za-z0-9]{40,}", True),
    ("figd_", r"[\w-]{20,}", True),
    ("shpat_", r"[0-9a-fA-F]{32}", False),
    ("shpca_", r"[0-9a-fA-F]{32}", False),
    ("shppa_", r"[0-9a-fA-F]{32}", False),
    ("shpss_", r"[0-9a-fA-F]{32}", False),
    ("sq0atp-", r"[\w-]{16,}", False),
    ("sq0csp-", r"[\w-]{16,}", False),
    ("hvs.", r"[\w-]{20,}", True),
    ("hvb.", r"[\w-]{20,}", True),
    ("dp.pt.", r"[A-Za-z0-9]{30,}", True),
    ("dp.st.", r"[\w.-]{30,}", True),
    ("pscale_tkn_", r"[\w.-]{20,}", False),
    ("pscale_pw_", r"[\w.-]{20,}", False),
    ("sbp_", r"[0-9a-f]{40}", True),
    ("sb_secret_", r"[\w-]{16,}", True),
    ("sntrys_", r"[\w=+/-]{20,}", False),
    ("sntryu_", r"[\w=+/-]{20,}", False),
    ("glsa_", r"\w{20,}", True),
    ("glc_", r"[\w+/=]{30,}", True),
    ("NRAK-", r"[A-Z0-9]{20,}", True),
    ("dckr_pat_", r"[\w-]{16,}", False),
    ("ATATT3", r"[\w=-]{20,}", True),
    ("PMAK-", r"[\w-]{20,}", True),
    (".atlasv1.", r"[\w=-]{20,}", False),
    ("HRKU-", r"[\w-]{20,}", True),
    ("rubygems_", r"[0-9a-f]{40,}", False),
    ("EAA", r"[A-Za-z0-9]{60,}", True),
    ("hooks.slack.com/services/", r"[\w/]{16,}", False),
    ("/api/webhooks/", r"\d{5,20}/[\w-]{16,}", False),
    ("fm2_", r"[\w+/=]{30,}", True),
)
# A shape that starts so is not preceded by its own word, or by an escape whose last letter looks like one.
_START = r"(?:(?<![A-Za-z0-9]{lit})|(?<=\\[nrtbf]{lit})|(?<=%[0-9A-Fa-f]{{2}}{lit})|(?<=\\u[0-9a-fA-F]{{4}}{lit}))"

_QUOTE = r"""(?:\\*["'`]|&quot;|&apos;|&#0?3[49];|%2[27]|\\+u002[27])"""
_NAME = (
    r"(?<![\w.-])(?P<name>[\w.-]++)"
    rf"(?:(?P<assign>{_QUOTE}?\]?[ \t]{{0,20}}(?:=>|:=|[?+]=|={{1,3}}|:(?!:)|%3[AaDd]|\\+u003[aAdD])[ \t]{{0,20}})"
    rf"|(?P<pair>{_QUOTE}?[\s,]{{1,40}}{_QUOTE}?[vV]alue{_QUOTE}?\s{{0,20}}[:=]\s{{0,20}})"
    rf"|(?P<list>{_QUOTE}\s{{0,20}},\s{{0,20}})"
    r"|(?P<tag>>)"
    rf"|(?P<space>{_QUOTE}?[ \t]{{1,20}}))"
)
_ATOM = r"\[redacted\]|\$\{\{[^{}\n]{0,200}\}\}|\$\{[^{}\s\"'`\\]{0,200}\}"
_BARE = rf"""(?:[^\s"'`\\&;|<>,)\]}}\[$]++|{_ATOM}|[\[$]|\\++(?![nrtu"'`]))++"""
_BARE_COOKIE = (
    rf"""(?:[^\s;"'`\\\[$]++|{_ATOM}|[\[$])++"""
    rf"""(?:;[ ]?[^\s;="'`\\]{{1,200}}=(?:[^\s;"'`\\\[$]++|{_ATOM}|[\[$])*+)*+"""
)
_BARE_HEADER = rf"""(?:[^\n\r"'`\\;|&<>\[$]++|{_ATOM}|[\[$]|\\++(?![nrtu"'`]))++"""
_REFERENCE = (
    r"(?:\$\{\{[^{}]{0,200}\}\}|\{\{[^{}]{0,200}\}\}|\$\{[^{}]{0,200}\}|\$env:\w{1,100}|\$[A-Za-z_]\w{0,100}"
    r"|%[A-Za-z_]\w{0,100}%|\{[A-Za-z_][\w.]{0,100}\}|<[^<>]{1,80}>|[:/@,._ -])+"
)
_DEFAULT = r"\$\{\w{1,100}:?[-=]([^{}$]{4,200})\}"
_CODE = r"(?:[A-Za-z_]\w*+(?:(?:\.|::|->)[A-Za-z_]\w*+)*+)(?:[(\[]|$)"

_NOT_VALUES = _set(
    "true false none null nil undefined nan void yes no on off str string bytes bool boolean int integer number float "
    "any object array dict list optional required unknown self this new await async function lambda return inherit "
    "must should the is are was not and for with from if else in of to a an at as by or it be can will may has have "
    "%s %d %v %r {} ... str, secretstr char *char auto const let var public private static final get set"
)
_CODE_ROOTS = _set(
    "os process self this config configuration settings env environ secrets vars args opts options request req ctx "
    "context cfg params var local data module props state user session event response res app client kwargs"
)
_SCHEMES = _set(
    "bearer basic token digest apikey bot negotiate ntlm hawk aws4-hmac-sha256 sharedkey key oauth jwt snowflake "
    "splunk github-bearer sso-key genie-key"
)
# Words before a name which make the word after it its value: `ENV NAME value`, `setx NAME value`.
_SETTERS = ("ENV", "ARG", "setx", "setenv", "set", "-gx", "-x", "-Ux", "-xg")

# ------------------------------------------------------------------------------------------------ cheap first look

_NAME_HINTS = ("pass", "pwd", "secret", "token", "key", "auth", "cred", "cookie", "bearer", "jwt", "sig", "pat", "sess")
_BEARER_HINTS = ("bearer", "basic", "token")
_PROGRAM_HINTS = (
    "curl",
    "wget",
    "http",
    "xh",
    "mysql",
    "mariadb",
    "mycli",
    "sshpass",
    "docker",
    "podman",
    "helm",
    "nerdctl",
    "buildah",
    "skopeo",
    "oras",
    "crane",
    "az",
    "oc",
    "twine",
    "mongo",
    "ldap",
    "sqlcmd",
    "redis-cli",
    "gh",
    "zip",
    "7z",
    "smbclient",
    "lftp",
    "twurl",
    "bcp",
    "rar",
    "unrar",
    "rpcclient",
)
_SHORT = 4000  # characters that are looked at word by word
_SHAPE_HINTS = tuple(sorted({literal for literal, _, _ in _SHAPES}))


def needs_redaction(text: str, env: Mapping[str, str] | None = None) -> bool:
    """False when ``redact`` would surely give ``text`` back as it is; cheap, and without ``re``."""
    return _needs(text, () if env is None else _secret_values(env))


def _needs(text: str, values: tuple[str, ...]) -> bool:
    if any(value in text for value in values):
        return True
    low = text.lower()
    if _may_name(text, low):
        return True
    if ("@" in text and "://" in text) or "%40" in text or ":\\/" in text:
        return True
    if any(hint in text for hint in _SHAPE_HINTS) or "sk-" in text or "eyJ" in text or "PRIVATE" in text:
        return True
    if "basic" in low or "identified" in low or "securestring" in low or "echo" in low or "bot" in low:
        return True
    if ("-" in text and _may_start(low)) or ("login" in low and "password" in low):
        return True
    if text.count(".") < 2 or not any(char in text for char in "MNO"):
        return False
    return len(text) > _SHORT or any(len(word) > 50 and word.count(".") >= 2 for word in text.split())


def _may_name(text: str, low: str) -> bool:
    """Whether ``text`` may name a secret.  A hint inside another word ("path", "session") is none: most sentences have
    one, and looking closer costs the 5 ms that ``re`` takes to load."""
    exact = len(text) <= _SHORT and text.isascii() and "\\" not in text and "%" not in text
    for hint in _NAME_HINTS:
        at = low.find(hint)
        if at >= 0 and (not exact or hint in _BEARER_HINTS):
            return True
        while at >= 0:
            start, end = at, at + len(hint)
            while start and (text[start - 1].isalnum() or text[start - 1] in "_.-"):
                start -= 1
            while end < len(text) and (text[end].isalnum() or text[end] in "_.-"):
                end += 1
            if _rank(text[start:end]) != NO:
                return True
            at = low.find(hint, end)
    return False


def _may_start(low: str) -> bool:
    """Whether a program whose options hold secrets may stand in the text."""
    for hint in _PROGRAM_HINTS:
        at = low.find(hint)
        while at >= 0:
            if hint == "zip" or not at or not (low[at - 1].isalnum() or low[at - 1] in "_-"):
                return True
            at = low.find(hint, at + 1)
    return False


_compiled: dict[str, re.Pattern[str]] = {}


def _re(pattern: str) -> re.Pattern[str]:
    found = _compiled.get(pattern)
    if found is None:
        import re

        found = _compiled[pattern] = re.compile(pattern)
    return found


# --------------------------------------------------------------------------------------------------------- values


def _has_reference(value: str, quote: str) -> bool:
    if value.startswith("$("):
        return True
    if len(value) > 2000 or _re(_REFERENCE).fullmatch(value) is None:
        return False
    # '$ecret123' between single quotes is a password far more often than a variable.
    return not (quote == "'" and value[:1] == "$" and value[1:2].islower())


def _is_path(value: str) -> bool:
    if value[1:3] in (":\\", ":/") and value[0].isalpha():
        return True
    if not value.startswith(("/", "~/", "./", "../")) or len(value) < 3:
        return False
    for part in value.split("/"):
        # A base64 secret may start with a slash, too: no folder mixes cases and digits at such a length.
        if len(part) >= 16 and _mixed(part):
            return False
        if "+" in part or "=" in part:
            return False
    return True


def _mixed(value: str) -> bool:
    return any(c.isdigit() for c in value) and any(c.isupper() for c in value) and any(c.islower() for c in value)


def _is_random(value: str, least: int = 20) -> bool:
    if len(value) < least or _re(r"[\w+/=.%~-]+").fullmatch(value) is None:
        return False
    if _re(r"[0-9a-fA-F]+").fullmatch(value) is not None:
        return len(value) >= 32
    return _mixed(value) and sum(value.count(char) for char in "-_./") <= 2 + len(value) // 12


def _is_code(value: str, name: str) -> bool:
    """Whether a bare word after a secret-like name is an expression of some program rather than a literal."""
    match = _re(_CODE).match(value)
    if match is None:
        return False
    if match.group()[-1] in "([":
        return True
    root = value.partition(".")[0].partition("->")[0].partition("::")[0]
    if root != value and root.lower() in _CODE_ROOTS:
        return True
    if value.isupper() and "_" in value and is_secret_name(value):
        return True  # a constant's name
    own, said = _words(name), _words(value)
    return own == said or own[-len(said) :] == said


class _Context:
    """How a value was met: its name and rank, and what stood between them."""

    __slots__ = ("bare", "compared", "flag", "name", "quote", "rank", "secret_id", "spaced", "spelled")

    def __init__(self, name: str, rank: int) -> None:
        self.name = name
        self.rank = rank
        self.quote = ""
        self.bare = False
        self.flag = name[:1] == "-"
        self.spaced = False
        self.compared = False
        self.secret_id = name[-9:].lower().replace("-", "_").replace("tid", "t_id").endswith("secret_id")
        self.spelled = False


def _left(value: str, how: _Context) -> bool:
    """Whether ``value`` is no secret (a reference, a type, a path, a mask, …) and stays."""
    if not value or value == MARKER or _has_reference(value, how.quote):
        return True
    if not value.strip("*xX.•·-_"):
        return True
    low = value.lower()
    if low in _NOT_VALUES or low.rstrip(";:,.") in _NOT_VALUES:
        return True
    if "://" in value[:16] or _is_path(value):
        return True
    if how.rank == WEAK:
        return not _is_random(value)
    if how.spaced:
        return len(value) < 32 or not (any(c.isdigit() for c in value) and any(c.isalpha() for c in value))
    if how.secret_id and not (len(value) >= 20 and ":" not in value and any(c.isdigit() for c in value)):
        return True  # Vault's is a key, AWS's is only a name
    if how.flag:
        return value[0] == "-" and how.bare
    if how.rank == WIDE and how.bare and not how.spelled and "=" not in value and len(value) < 8:
        return True
    if how.compared and len(value) < 8:
        return True
    if not any(c.isalnum() for c in value):
        return True
    if how.bare:
        if value.isdigit():
            return len(value) < (4 if how.name.isupper() else 6)
        if value[0] in "{[(" and len(value) < 3:
            return True
        if _is_code(value, how.name):
            return True
        if how.spelled:  # `Password: must …`, YAML: a short plain word is prose
            return len(value) < 6 and value.isalpha()
        return len(value) < 3
    return len(value) < 3


def _is_close(text: str, at: int, slashes: int) -> bool:
    count = 0
    while count <= slashes and at - count - 1 >= 0 and text[at - count - 1] == "\\":
        count += 1
    return count <= slashes


class _Lines:
    """The end of the line that holds a position, for positions that only grow."""

    __slots__ = ("end", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.end = -1

    def after(self, at: int) -> int:
        if at > self.end:
            found = self.text.find("\n", at)
            self.end = len(self.text) if found < 0 else found
        return self.end


def _quoted_end(text: str, at: int, quote: str, stop: int) -> tuple[int, int]:
    """End of the quoted value that starts at ``at``, and the position after its closing quote (or ``stop``)."""
    if quote[-1] in "\"'`":
        slashes, char = len(quote) - 1, quote[-1]
        found = text.find(char, at, stop)
        while found >= 0:
            if _is_close(text, found, slashes):
                end = found
                while end > at and text[end - 1] == "\\" and found - end < slashes:
                    end -= 1
                return end, found + 1
            found = text.find(char, found + 1, stop)
    else:
        found = text.find(quote, at, stop)
        if found >= 0:
            return found, found + len(quote)
    return stop, stop


def _spans(text: str, at: int, how: _Context, lines: _Lines, line_start: bool) -> tuple[list[tuple[int, int]], int]:
    """What to replace of the value that starts at ``at``, and where to go on reading."""
    stop = lines.after(at)
    opened = _re(_QUOTE).match(text, at, stop)
    if opened is not None:
        how.quote = opened.group()
        start = opened.end()
        end, after = _quoted_end(text, start, how.quote, stop)
    else:
        how.bare = True
        start = at
        pattern = _BARE
        if how.rank == WIDE:
            pattern = _BARE_COOKIE if how.name.lower().endswith(("cookie", "cookies")) else _BARE_HEADER
        if text.startswith("$(", at):
            return [], at
        # What is left is read again for names inside, so the look that decides about that must be bounded.
        match = _re(pattern).match(text, at, min(stop, at + _LOOK))
        if match is None:
            return [], at
        end = match.end()
        if end == at + _LOOK and end < stop:
            if _left(text[at:end], how):
                return [], at
            match = _re(pattern).match(text, at, stop)
            end = match.end() if match is not None else end
        if how.rank == WIDE:
            if line_start and how.spelled and text[at : at + 7].lower() in ("digest ", "oauth r", "oauth o"):
                end = stop
            while end > start and text[end - 1] in " \t)]}," and not text.endswith((MARKER, "}"), start, end):
                end -= 1
        after = end
    value = text[start:end]
    scheme = _re(r"([A-Za-z][\w-]{2,20}+)(?: ++|\\ |%20|\+)").match(value)
    if scheme is not None and scheme.group(1).lower() in _SCHEMES:
        start = start + scheme.end()
    elif how.bare and value.lower() in _SCHEMES and how.rank != WIDE:  # `X-Api-Key: Bearer abc`
        follow = _re(rf"[ \t]{{1,4}}({_BARE})").match(text, end, stop)
        if follow is not None:
            start, end = follow.span(1)
            after = end
    value = text[start:end]
    if how.rank == WIDE and how.flag and "=" not in value and "." in value:
        return [], at  # curl --cookie cookies.txt
    if how.bare and value[:1] == "'" and how.rank == WIDE:
        return [], at
    default = _re(_DEFAULT).fullmatch(value) if value.startswith("${") and len(value) < 400 else None
    if default is not None and default.group(1) != MARKER:
        inner = _Context(how.name, how.rank)
        inner.flag = how.flag
        if not _left(default.group(1), inner):
            return [(start + default.start(1), start + default.end(1))], after
    if _left(value, how):
        return [], at
    if not how.bare and "$(" in value:
        # A command inside a value is code and must stay visible to whoever judges the text.
        head = value.partition("$(")[0]
        return ([(start, start + len(head))] if len(head) >= 4 and head != MARKER else []), start + len(head)
    spans = [(start, end)]
    # Shell words go on after a quote: "abc"'def'
    while not how.bare and after < stop and text[after] in "\"'" and text[after - 1] in "\"'" and len(how.quote) == 1:
        end, beyond = _quoted_end(text, after + 1, text[after], stop)
        if end > after + 1 and text[after + 1 : end] != MARKER:
            spans.append((after + 1, end))
        after = beyond
    return spans, after


def _names(text: str) -> str:
    out: list[str] = []
    done = 0
    lines = _Lines(text)
    line_break = -1  # the last newline before the current name, kept as we go
    for match in _re(_NAME).finditer(text):
        name = match[1]
        rank = _ranks.get(name)
        if rank is None:
            rank = _rank(name)
        first = match.start()
        if first and (name[0] in "nrtbfu" or name[0].isdigit()):
            name, rank = _after_escape(text, first, name, rank)
        if rank == NO or first < done:
            continue
        at = match.end()
        met = match.lastgroup  # what stands between name and value
        flag = name[0] == "-"
        if met == "space" and not flag:
            if rank == WEAK:
                continue
            chunk = text[at : at + 32]
            short = chunk[:1] not in ("'", '"') and (len(chunk) < 32 or len(chunk.split(None, 1)) > 1)
            if short and not text[max(0, first - 8) : first].rstrip(" \t").endswith(_SETTERS):
                continue
        if rank == WEAK and _re(rf"{_QUOTE}?[\w+/.%~-]{{20}}").match(text, at) is None:
            continue
        how = _Context(name, rank)
        if met == "assign":
            said = match["assign"]
            how.compared = "==" in said
            how.spelled = ":" in said and not how.flag
            if name.lower() == "pass" and said[-2:] == ": " and text[at : at + 1] not in "\"'":  # prose
                how.rank = WEAK if text[first - 1 : first] in ("", "\n", " ") else rank
        elif met == "pair":
            pass
        elif met == "list":
            if not how.flag and how.rank != WIDE and not _is_argument(text, at, name):
                continue
        elif met == "tag":
            body = _re(r"([^<\n]{1,4000})</").match(text, at)
            if body is None or first == 0 or text[first - 1] not in "<:" or _left(body[1].strip(), how):
                continue
            out += [text[done:at], MARKER]
            done = body.end(1)
            continue
        elif how.flag:
            if text[at : at + 1] == "-":
                continue
        else:
            before = text[max(0, first - 24) : first].split()
            how.spaced = not (before and before[-1] in _SETTERS and text[first - 1] in " \t")
            if how.spaced and text[at : at + 1] in ("'", '"') and name.lower() in ("password", "passphrase", "passwd"):
                how.spaced = False
            if how.rank == WIDE:
                how.rank = SECRET
            if text[at : at + 1] == "-":
                continue
        line_break = max(line_break, text.rfind("\n", max(line_break, first - 200, 0), first))
        head = text[line_break + 1 : first] if first - line_break <= 40 else "?"
        line_start = head.strip(" \t<>+-*") in ("", "export", "set", "declare", "env")
        spans, after = _spans(text, at, how, lines, line_start)
        if not spans and how.spelled and text[at : at + 1] in ("|", ">"):
            spans, after = _block(text, at, lines.after(at), head)
        for start, end in spans:
            if start < done or end <= start:
                continue
            out.append(text[done:start])
            out.append(MARKER)
            done = end
        if spans:
            done = _skip(out, text, done, after)
    out.append(text[done:])
    return "".join(out)


def _is_argument(text: str, at: int, name: str) -> bool:
    """Whether a quoted header or variable name and what follows are a call's arguments: ``setenv("API_KEY", "…")``."""
    if "-" not in name and not ("_" in name and name.isupper()):
        return False
    opened = _re(_QUOTE).match(text, at)
    if opened is None:
        return False
    found = _re(r"[\w-]*+").match(text, opened.end())
    word = found.group() if found is not None else ""
    # A list of such names is no call: ["API_KEY", "CLIENT_SECRET"]
    return not (is_secret_name(word) and ("_" in word or "-" in word) and not any(c.isdigit() for c in word))


def _skip(out: list[str], text: str, done: int, after: int) -> int:
    """Copy the closing quote of a value that was replaced: what follows it is read as text again."""
    if after > done:
        out.append(text[done:after])
        return after
    return done


def _after_escape(text: str, first: int, name: str, rank: int) -> tuple[str, int]:
    """The name without the letters that belong to an escape before it: ``\\nTOKEN``, ``%22token``, ``\\u0022token``."""
    before = text[first - 1]
    cut = 0
    if before == "\\":
        cut = 5 if name[0] == "u" and len(name) > 5 else 1
    elif before == "%":
        cut = 2
    if not cut or len(name) <= cut:
        return name, rank
    bare = name[cut:]
    return bare, _rank(bare)


def _block(text: str, at: int, line_end: int, head: str) -> tuple[list[tuple[int, int]], int]:
    """A YAML block scalar: the more indented lines after ``name: |``."""
    if text[at:line_end].strip() not in ("|", ">", "|-", ">-", "|+", ">+"):
        return [], at
    indent = len(head) - len(head.lstrip())
    spans: list[tuple[int, int]] = []
    place = line_end + 1
    for _ in range(200):
        if place >= len(text):
            break
        end = text.find("\n", place)
        end = len(text) if end < 0 else end
        line = text[place:end]
        body = line.lstrip()
        if body:
            if len(line) - len(body) <= indent:
                break
            if body != MARKER:
                spans.append((place + len(line) - len(body), place + len(line.rstrip())))
        place = end + 1
    return spans, spans[-1][1] if spans else at


# ---------------------------------------------------------------------------------------------------- other rules


def _pem(text: str) -> str:
    out: list[str] = []
    done = 0
    closing = 0
    for match in _re(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----").finditer(text):
        if match.start() < done:
            continue
        start = match.end()
        if 0 <= closing < start:
            closing = text.find("-----END ", start)
        if closing >= 0 and closing - start <= 40_000:
            end = closing
        else:
            body = _re(r"(?:[A-Za-z0-9+/=\s:,]|\\[nr\\])++").match(text, start)
            end = body.end() if body is not None else start
        if end > start and text[start:end] != MARKER:
            out += [text[done:start], MARKER]
            done = end
    out.append(text[done:])
    return "".join(out)


def _userinfo(match: re.Match[str]) -> str:
    lead, rest = match.group(1), match.group(2)
    login, at, host = rest.rpartition("@")
    if not at:
        return match.group()
    user, colon, password = login.partition(":")
    if colon and "/" in password and password.partition("/")[0].isdigit():
        return match.group()  # a port and a path that holds an @
    if colon and password and password != MARKER and not _has_reference(password, ""):
        password = MARKER
    if len(user) >= 20 and user != MARKER and any(c.isdigit() for c in user) and not _has_reference(user, ""):
        user = MARKER
    return f"{lead}{user}{colon}{password}{at}{host}"


def _urls(text: str) -> str:
    # Database URLs often hold a password with an unescaped slash or hash.
    text = _re(
        r"""((?:postgres(?:ql)?|mysql|mariadb|mongodb|redis|rediss|amqp|amqps|mssql)(?:\+\w{1,20})?:(?:\\?/){2})"""
        r"""((?:\[redacted\]|[^\s"'<>`\\@?])*+@(?:[^\s"'<>`\\/?#@]*+@)*+)"""
    ).sub(lambda match: _userinfo(match), text)
    text = _re(r"""(:(?:\\?/){2})((?:[^\s/?#"'<>`\\])++)""").sub(_userinfo, text)
    return _re(
        r"(%3[aA]%2[fF]%2[fF][\w.~-]{0,100}%3[aA])((?:\[redacted\]|[\w.~!*-]|%(?!40)[0-9A-Fa-f]{2}){1,200}+)(?=%40)"
    ).sub(lambda match: match.group(1) + MARKER, text)


def _shapes(text: str) -> str:
    import re

    for literal, tail, bounded in _SHAPES:
        if literal in text:
            safe = re.escape(literal)
            start = _START.format(lit=safe) if bounded else ""
            text = _re(safe + start + tail).sub(MARKER if literal != ":AA" else ":" + MARKER, text)
    if "sk-" in text:
        text = _re("sk-" + _START.format(lit="sk-") + r"[\w-]{16,}").sub(_openai, text)
    if "eyJ" in text:
        text = _re("eyJ" + _START.format(lit="eyJ") + r"[\w-]{8,}+(?:\.[\w-]*+)*+").sub(
            lambda match: MARKER if match.group().count(".") >= 1 and len(match.group()) > 30 else match.group(), text
        )
    if "bot" in text:
        text = _re(r"(bot\d{8,12}:)[\w-]{30,}").sub(rf"\1{MARKER}", text)
    if "." in text:
        text = _re(r"(?:(?<![\w.-])|(?<=\\[nrtbf])|(?<=%[0-9A-Fa-f]{2}))[MNO][\w-]{22,27}\.[\w-]{6}\.[\w-]{27,}").sub(
            MARKER, text
        )
    return text


def _openai(match: re.Match[str]) -> str:
    return MARKER if any(c.isdigit() for c in match.group()) else match.group()


def _bearer(match: re.Match[str]) -> str:
    scheme, gap, value = match.group(1), match.group(2), match.group(3)
    digit = any(c.isdigit() for c in value)
    low = scheme.lower()
    if low == "bearer":
        secret = (len(value) >= 8 and digit) or (len(value) >= 16 and "-" not in value)
    else:
        secret = (len(value) >= 20 and (digit or value.endswith("="))) or (low == "basic" and value.endswith("="))
    if not secret or _is_path(value) or (value.count("-") == 4 and len(value) == 36):
        return match.group()
    return scheme + gap + MARKER


def _misc(text: str, low: str) -> str:
    if "login" in low and "password" in low:  # netrc
        text = _re(r"(?i)(\blogin\s{1,20}\S{1,200}\s{1,20}password\s{1,20})(?!\[redacted\])([^\s\"'`\\]{1,500})").sub(
            lambda match: match.group() if _has_reference(match.group(2), "") else match.group(1) + MARKER, text
        )
    if "identified" in low:
        text = _re(
            r"(?i)(\bidentified\s{1,5}(?:with\s{1,5}\w{1,40}\s{1,5})?by\s{1,5}(?:password\s{1,5})?\\{0,8}['\"])([^'\"\\\n]{1,500})"
        ).sub(lambda match: match.group() if _has_reference(match.group(2), "") else match.group(1) + MARKER, text)
    if "securestring" in low:
        text = _re(r"(?i)(ConvertTo-SecureString\s{1,5}(?:-String\s{1,5})?\\{0,8}['\"])([^'\"\\\n]{1,500})").sub(
            lambda match: match.group() if _has_reference(match.group(2), "") else match.group(1) + MARKER, text
        )
    if "echo" in low and "|" in text:
        text = _re(
            r"""(\becho\s{1,5}(?:-\w{1,3}\s{1,5})?\\{0,8}['"]?)([^\s|'"\\]{1,200})(?=\\{0,8}['"]?\s{0,5}\|\s{0,5}"""
            r"""(?:sudo\b[^|\n]{0,40}?\s-\w{0,4}S|[^|\n]{0,120}?--(?:password-stdin|with-token|stdin|passphrase-fd)))"""
        ).sub(lambda match: match.group() if _has_reference(match.group(2), "") else match.group(1) + MARKER, text)
    return text


# program -> (the flag and what may stand between it and its value, whether the value is user:password)
_GAP = r"(?:[ \t]{1,20}|=|" + _QUOTE + r"\s{0,20},\s{0,20}|\\+\n\s{0,20})"
_FLAG = r"(?<![\w-])"
_PROGRAMS: tuple[tuple[str, str, bool], ...] = (
    (r"curl|wget|twurl", rf"{_FLAG}(?:-[a-zA-Z#]{{0,6}}[uU]{_GAP}?|--(?:proxy-)?user{_GAP})", True),
    (r"https?|xhs?", rf"{_FLAG}(?:-[aA]{_GAP}?|--auth{_GAP})", True),
    (
        r"mysql(?:dump|admin|import|show|check|sh)?|mariadb(?:-\w{1,10})?|7z[az]?|rar|unrar",
        rf"{_FLAG}-p(?=[^\s])",
        False,
    ),
    (r"mycli|sshpass", rf"{_FLAG}-p{_GAP}?", False),
    (r"docker|podman|helm|nerdctl|buildah|skopeo|oras|crane|az|oc", rf"{_FLAG}-p{_GAP}", False),
    (r"twine|mongo(?:sh|dump|restore|import|export)?", rf"{_FLAG}-p{_GAP}", False),
    (r"ldap\w{1,12}", rf"{_FLAG}-w{_GAP}", False),
    (r"sqlcmd|bcp|unzip|zip|zipcloak", rf"{_FLAG}-P{_GAP}?", False),
    (r"gh", rf"{_FLAG}(?:-b|--body){_GAP}", False),
    (r"redis-cli", rf"{_FLAG}-a{_GAP}", False),
    (r"smbclient|rpcclient|lftp", rf"{_FLAG}-[uU]{_GAP}", True),
)
# Programs whose flag holds a secret only under one subcommand.
_SUBCOMMAND = dict.fromkeys(
    ("docker", "podman", "helm", "nerdctl", "buildah", "skopeo", "oras", "crane", "az", "oc"), "login"
)
_SUBCOMMAND["gh"] = "secret set"


def _programs(text: str) -> str:
    names = "|".join(f"(?P<f{number}>{words})" for number, (words, _, _) in enumerate(_PROGRAMS))
    finder = _re(rf"""(?<![\w-])(?:{names})(?:\.exe)?(?=[\s"'\\])""")
    found = list(finder.finditer(text))
    out: list[str] = []
    done = 0
    for number, match in enumerate(found):
        family = int((match.lastgroup or "f0")[1:])
        limit = found[number + 1].start() if number + 1 < len(found) else len(text)
        limit = min(limit, match.end() + 4000)
        cut = _re(r"(?<!\\)\n|&&|\|\||;\s|\s\|\s").search(text, match.end(), limit)
        stop = cut.start() if cut is not None else limit
        if _SUBCOMMAND.get(match.group().removesuffix(".exe"), "") not in " ".join(text[match.end() : stop].split()):
            continue
        _, flag, login = _PROGRAMS[family]
        for hit in _re(flag).finditer(text, match.end(), stop):
            start = hit.end()
            if start < done:
                continue
            opened = _re(_QUOTE).match(text, start, stop)
            if opened is not None:
                start = opened.end()
                end, _ = _quoted_end(text, start, opened.group(), stop)
                quote = opened.group()
            else:
                bare = _re(_BARE).match(text, start, stop)
                if bare is None:
                    continue
                end, quote = bare.end(), ""
            if login:
                mark = _re(r"[^\s:,%\"'\\/=]{0,200}[:,%]").match(text, start, end)
                if mark is None:
                    continue
                if mark.group()[-1] != ":" and family != len(_PROGRAMS) - 1:
                    continue
                start = mark.end()
            value = text[start:end]
            if not value or value == MARKER or _has_reference(value, quote) or (login and value.isdigit()):
                continue
            out += [text[done:start], MARKER]
            done = end
    out.append(text[done:])
    return "".join(out)


# ---------------------------------------------------------------------------------------------------- environment


def _secret_values(env: Mapping[str, str]) -> tuple[str, ...]:
    """The values (12 characters or more) of the secret variables, longest first, in each form a text may hold."""
    found: set[str] = set()
    for name, value in env.items():
        value = value.strip()
        rank = _rank(name)
        if len(value) < 12 or rank == NO or (rank == WEAK and not _is_random(value)):
            continue
        if (value.startswith(("/", "~", "./", "../")) and _is_path(value)) or value.lower() in _NOT_VALUES:
            continue
        if ("://" in value and "@" not in value) or value == MARKER:
            continue
        found.add(value)
        if "\\" in value or '"' in value or "\n" in value:
            escaped = value
            for _ in range(3):  # JSON in JSON in JSON
                escaped = escaped.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
                found.add(escaped)
        if not value.isalnum():
            safe = "_.-~"
            quoted = "".join(
                c
                if (c.isascii() and c.isalnum()) or c in safe
                else "".join(f"%{b:02X}" for b in c.encode("utf-8", "replace"))
                for c in value
            )
            found.add(quoted)
    return tuple(sorted(found, key=len, reverse=True))


# ---------------------------------------------------------------------------------------------------------- public


def redact(text: str, env: Mapping[str, str] | None = None) -> str:
    """``text`` with what is secret in it replaced by MARKER.  Never raises; idempotent up to 100,000 characters.

    With ``env``, the values of its secret-like variables are replaced wherever they stand, too.
    """
    return _redact(text, () if env is None else _secret_values(env))


def redactor(env: Mapping[str, str]) -> Callable[[str], str]:
    """``redact`` with ``env``, for many texts: the variables are looked through once."""
    values = _secret_values(env)
    return lambda text: _redact(text, values)


def _redact(text: str, values: tuple[str, ...]) -> str:
    if not _needs(text, values):
        return text
    for value in values:
        text = text.replace(value, MARKER)
    # A replaced value can make the words around it readable (three in a thousand of random junk): look again, but not
    # at a megabyte, which has to be done within a second.
    for _ in range(3 if len(text) <= 100_000 else 1):
        after = _once(text)
        if after == text:
            break
        text = after
    return text


def _once(text: str) -> str:
    low = text.lower()
    if "PRIVATE KEY" in text:
        text = _pem(text)
    if ("@" in text and "/" in text) or "%40" in text:
        text = _urls(text)
    if any(hint in low for hint in _NAME_HINTS):
        text = _names(text)
    text = _shapes(text)
    if any(hint in low for hint in _BEARER_HINTS):
        text = _re(r"(?i)(?<![A-Za-z])(bearer|basic|token)((?:\s|%20|\\ ){1,5})([\w.~+/=-]{8,})").sub(_bearer, text)
    text = _misc(text, low)
    if "-" in text and _may_start(low):
        text = _programs(text)
    return text


def redact_value(obj: Any, env: Mapping[str, str] | None = None) -> Any:
    """A deep copy of ``obj`` (JSON values) with every string redacted, and what is under a secret-like key replaced.

    Deeper than MAX_DEPTH and at a cycle the copy holds "[cut]".  What is no JSON value becomes its redacted text.
    """
    return _walk(obj, () if env is None else _secret_values(env), 0, False, [])


def _walk(obj: Any, values: tuple[str, ...], depth: int, secret: bool, above: list[int]) -> Any:
    if isinstance(obj, str):
        if not secret:
            return _redact(obj, values)
        if len(obj) < 3 or _has_reference(obj, "") or obj.lower() in _NOT_VALUES or _is_path(obj):
            return _redact(obj, values)
        return MARKER
    if obj is None or isinstance(obj, (bool, int, float)):
        return obj
    if not isinstance(obj, (dict, list, tuple, set, frozenset)):
        return _redact(obj.decode("utf-8", "replace") if isinstance(obj, (bytes, bytearray)) else str(obj), values)
    if depth >= MAX_DEPTH or id(obj) in above:
        return "[cut]"
    above = [*above, id(obj)]
    if isinstance(obj, dict):
        named = next((obj[key] for key in ("name", "Name", "key", "Key") if isinstance(obj.get(key), str)), "")
        copy: dict[Any, Any] = {}
        for key, item in obj.items():
            hidden = secret or (isinstance(key, str) and is_secret_name(key))
            hidden = hidden or (key in ("value", "Value") and is_secret_name(named))
            copy[_redact(key, values) if isinstance(key, str) else key] = _walk(item, values, depth + 1, hidden, above)
        return copy
    items = [_walk(item, values, depth + 1, secret, above) for item in obj]
    return _argv(items) if len(items) > 1 else items


def _argv(items: list[Any]) -> list[Any]:
    """A list of words is often a command: the value of a secret flag is the next word."""
    if not all(isinstance(item, str) for item in items):
        return items
    program = items[0].rsplit("/", 1)[-1]
    for at in range(1, len(items)):
        flag, word = items[at - 1], items[at]
        if word == MARKER or not word or _has_reference(word, ""):
            continue
        value_of_flag = flag[:1] == "-" and "=" not in flag and is_secret_name(flag) and word[0] != "-"
        if (value_of_flag and not _is_path(word)) or (len(items) == 2 and _rank(flag) == WIDE):
            items[at] = MARKER
    if any(hint in program for hint in _PROGRAM_HINTS):
        # Read as one line of quoted words, so that the rules for short flags apply.
        seen = _programs('"' + '" , "'.join(item.replace('"', "\x1e") for item in items) + '"')
        words = seen[1:-1].split('" , "')
        if len(words) == len(items):
            return [word.replace("\x1e", '"') for word in words]
    return items
