"""Shell lines and the structure they are read into, as one compact text each.

The notation: ``[words]`` a simple command with its assignments and redirections, ``‹quoted›``, ``${name op word}`` and
``$(…)`` with double quotes around them where they stand in such, ``pipe<a | b>``, ``{ … }`` and ``( … )`` groups,
``branch(words: bodies / …)`` if and case, ``test(words)`` for ``[[ … ]]`` and ``(( … ))``, ``fn name body``; ``<<!`` is a
here-document whose delimiter was quoted.
"""

from __future__ import annotations

import json
import random
import tomllib
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from jevhook.shell.parse import MAX_NESTING, Unreadable, read
from jevhook.shell.recover import bash_parser, plain_pieces, recover
from jevhook.shell.tree import Branch, Command, Function, Group, Loop, Node, Pipeline, Redirect, Sequence
from jevhook.shell.tree import Test as Condition

if TYPE_CHECKING:
    from jevhook.shell.tree import Part, Word

ROOT = Path(__file__).parent.parent.parent
CORPUS = ROOT.parent / "shared" / "corpus"


def dump(node: Node) -> str:
    if isinstance(node, Sequence):
        pairs = zip(node.items, node.ops, strict=True)
        return "".join(dump(item) + (f" {op} " if op else "") for item, op in pairs).strip()
    if isinstance(node, Pipeline):
        return "pipe<" + " | ".join(map(dump, node.stages)) + ">"
    if isinstance(node, Command):
        pieces = [f"{name}{'+' if append else ''}={word(value)}" for name, value, append in node.assigns]
        return "[" + " ".join([*pieces, *map(word, node.words), *map(redirect, node.redirects)]) + "]"
    if isinstance(node, Group):
        opening, closing = ("(", ")") if node.subshell else ("{", "}")
        return f"{opening} {dump(node.body)} {closing}" + tail(node.redirects)
    if isinstance(node, Loop):
        if node.condition is not None:
            head = f"{node.kind} {dump(node.condition)}"
        else:
            head = f"{node.kind} {node.name or '(())'}"
            head += "" if node.words is None else " in " + " ".join(map(word, node.words))
        return f"{head.rstrip()} do {dump(node.body)} done" + tail(node.redirects)
    if isinstance(node, Branch):
        words = " ".join(map(word, node.words)) + (": " if node.words else "")
        return f"branch({words}{' / '.join(map(dump, node.bodies))})" + tail(node.redirects)
    if isinstance(node, Function):
        return f"fn {node.name} {dump(node.body)}"
    assert isinstance(node, Condition)
    return "test(" + " ".join(map(word, node.words)) + ")" + tail(node.redirects)


def tail(redirects: list[Redirect]) -> str:
    return "".join(" " + redirect(r) for r in redirects)


def redirect(r: Redirect) -> str:
    return f"{r.fd}{r.op}" + ("!" if r.op in ("<<", "<<-") and r.quoted else "") + word(r.word)


def word(parts: Word) -> str:
    return "".join(map(part, parts))


def part(p: Part) -> str:
    kind = p[0]
    if kind == "t":
        return str(p[1]).replace("\n", "\\n")
    if kind == "q":
        return "‹" + str(p[1]).replace("\n", "\\n").replace("\t", "\\t") + "›"
    if kind == "v":
        plain = p[2] == "" and p[3] is None
        inner = p[1] if plain else f"{p[1]} {p[2]} {'' if p[3] is None else word(p[3])}".rstrip()
        quote = '"' if p[4] else ""
        return f"{quote}${{{inner}}}{quote}"
    if kind == "c":
        quote = '"' if p[2] else ""
        return f"{quote}$({dump(p[1])}){quote}"
    if kind == "p":
        return f"{p[2]}({dump(p[1])})"
    if kind == "a":
        return "$((" + word(p[1]).strip() + "))"
    return "(" + " ".join(map(word, p[1])) + ")"


# fmt: off
LINES = [
    ('rm -rf "a b" \'c d\' e\\ f $\'g\\th\'', '[rm -rf ‹a b› ‹c d› e‹ ›f ‹g\\th›]'),
    ('a;b&&c||d&e', '[a] ; [b] && [c] || [d] & [e]'),
    ('a & b &', '[a] & [b] &'),
    ('a |& b 2>&1 | c', 'pipe<[a] | [b 2>&1] | [c]>'),
    ('! grep -q x f && time -p make | tee log', '[grep -q x f] && pipe<[make] | [tee log]>'),
    ('time', '[]'),
    ('! ! true', '[true]'),
    ('time -- ls', '[ls]'),
    ('{ a; b; } > f 2>&1', '{ [a] ; [b] ; } >f 2>&1'),
    ('(cd x && rm y) < in', '( [cd x] && [rm y] ) <in'),
    ('( ( a ) )', '( ( [a] ) )'),
    ('((i++)); (( a > b )) && c', 'test(i++) ; test( a > b ) && [c]'),
    ('echo $((1+2)) $((a*(b+c))) $( ( echo hi ) ) $((echo a); (echo b))', '[echo $((1+2)) $((a*(b+c))) $(( [echo hi] )) $(( [echo a] ) ; ( [echo b] ))]'),
    ('echo $(( $(wc -l < f) + 1 ))', '[echo $((‹ ›"$([wc -l <f])"‹ + 1 ›))]'),
    ('echo "$(( x ))" "$(rm "a b")" `rm \\`ls\\``', '[echo $((x)) "$([rm ‹a b›])" $([rm $([ls])])]'),
    ('echo "`date "+%s"`"', '[echo "$([date ‹+%s›])"]'),
    ('if a; then b; elif c; then d; else e; fi >f', 'branch([a] ; / [b] ; / [c] ; / [d] ; / [e] ;) >f'),
    ('while read -r l; do rm "$l"; done < list', 'while [read -r l] ; do [rm "${l}"] ; done <list'),
    ('until a; do b; done &', 'until [a] ; do [b] ; done &'),
    ('for x in a b "c d"; do echo $x; done', 'for x in a b ‹c d› do [echo ${x}] ; done'),
    ('for x; do echo $x; done', 'for x do [echo ${x}] ; done'),
    ('for x do echo $x; done', 'for x do [echo ${x}] ; done'),
    ('for x in; do echo $x; done', 'for x in do [echo ${x}] ; done'),
    ('for x\nin a b\ndo\n echo $x\ndone', 'for x in a b do [echo ${x}] ; done'),
    ('for ((i=0;i<3;i++)); do rm $i; done', 'for (()) in i=0;i<3;i++ do [rm ${i}] ; done'),
    ('for ((;;)) { a; }', 'for (()) in ;; do [a] ; done'),
    ('for x in a b; { echo $x; }', 'for x in a b do [echo ${x}] ; done'),
    ('select x in a b; do break; done', 'select x in a b do [break] ; done'),
    ('case $x in a|b) rm 1;; (c) rm 2;& "d e") rm 3;;& *) rm 4; esac', 'branch(${x} a b c ‹d e› *: [rm 1] / [rm 2] / [rm 3] / [rm 4] ;)'),
    ('case "$1" in\n  start)\n    a\n    ;;\n  [Ss]top|@(x|y)) b ;;\nesac', 'branch("${1}" start [Ss]top *: [a] ; / [b])'),
    ('case x in esac', 'branch(x: )'),
    ('case x in a) ;; b) esac', 'branch(x a b:  / )'),
    ('case $(uname) in Darwin) echo "a)" ;; esac > f', 'branch($([uname]) Darwin: [echo ‹a)›]) >f'),
    ('echo $(case x in a) rm q;; esac)', '[echo $(branch(x a: [rm q]))]'),
    ('[[ a =~ (x|y) ]] && b', 'test(a =~ x y) && [b]'),
    ('[[ -f "$f" && ! -d $d || ( a < b ) ]]', 'test(-f "${f}" ! -d ${d} a b)'),
    ('[[ $x =~ ^[0-9]+(\\.[0-9]+)?$ ]]', 'test(${x} =~ ^[0-9]*?$)'),
    ('[[ $x == *.@(js|ts) ]] || rm $x', 'test(${x} == *.*) || [rm ${x}]'),
    ('[[ -n $(rm x) ]]', 'test(-n $([rm x]))'),
    ('[ -f x ] && rm x', '[[ -f x ]] && [rm x]'),
    ('a=(1 2 "3 4" $(ls)) b+=(5) c[0]=x d=', '[a=(1 2 ‹3 4› $([ls])) b+=(5) c=x d=]'),
    ('a=(\n  1 # one\n  2\n)', '[a=(1 2)]'),
    ('declare -a x=(a b); local -r y=$z', '[declare -a x=(a b)] ; [local -r y=${z}]'),
    ('X=1 Y="a b" cmd Z=3', '[X=1 Y=‹a b› cmd Z=3]'),
    ('x+=y', '[x+=y]'),
    ('rm !(keep|"this one").txt ?(a)b +(x)', '[rm *.txt *b *]'),
    ('ls *.{js,ts} {a..c} [!x]*', '[ls *.{js,ts} {a..c} [!x]*]'),
    ('echo a#b #c', '[echo a#b]'),
    ('# only a comment', ''),
    ('a # c ; rm -rf /\nb', '[a] ; [b]'),
    ('a;#c\nb', '[a] ; [b]'),
    ('(#c\na)', '( [a] )'),
    ('rm \\\n  -rf \\\n  x', '[rm -rf x]'),
    ('r\\\nm x', '[rm x]'),
    ('rm x\r\nls y\r\n', '[rm x] ; [ls y] ;'),
    ('rm \\\r\n -rf x\r\n', '[rm -rf x] ;'),
    ('cat <<EOF\r\nhi\r\nEOF\r\nls\r\n', '[cat <<‹hi\r\\n›] ; [ls] ;'),
    ('exec {fd}>f 3<>g 4<&- 5>&6- >&2 &>all &>>more >|force', '[exec {fd}>f 3<>g 4<&- 5>&6- >&2 &>all &>>more >|force]'),
    ('{fd}>x cmd', '[cmd {fd}>x]'),
    ('echo {fd} {a}>x', '[echo {fd} {a}>x]'),
    ('cmd 2>/dev/null >out <in', '[cmd 2>/dev/null >out <in]'),
    ('>f', '[>f]'),
    ('<f rm x', '[rm x <f]'),
    ('rm 2>f x 3', '[rm x 3 2>f]'),
    ('echo 2 >f 2>f', '[echo 2 >f 2>f]'),
    ('function f() { rm x; }', 'fn f { [rm x] ; }'),
    ('function f { rm x; }', 'fn f { [rm x] ; }'),
    ('function f\n{\n a\n}', 'fn f { [a] ; }'),
    ('f() { rm x; } >log', 'fn f { [rm x] ; } >log'),
    ('f() ( rm x )', 'fn f ( [rm x] )'),
    ('f () { a; }; f', 'fn f { [a] ; } ; [f]'),
    ('f-g.h() { a; }', 'fn f-g.h { [a] ; }'),
    ('f() if a; then b; fi', 'fn f branch([a] ; / [b] ;)'),
    ('coproc NAME { a; }', '{ [a] ; }'),
    ('coproc rm x', '[rm x]'),
    ('coproc cat', '[cat]'),
    ('echo if then fi done', '[echo if then fi done]'),
    ('if true; then echo if; fi', 'branch([true] ; / [echo if] ;)'),
    ('ls do done', '[ls do done]'),
    ('a && { b; } || ( c )', '[a] && { [b] ; } || ( [c] )'),
    ('echo } { ]', '[echo } { ]]'),
    ('cp a{,.bak} b', '[cp a{,.bak} b]'),
    ('diff <(sort a) <(sort b) >(tee c)', '[diff <([sort a]) <([sort b]) >([tee c])]'),
    ('cmd > >(tee log) 2> >(cat)', '[cmd >>([tee log]) 2>>([cat])]'),
    ('x=<(a) y', '[x=<([a]) y]'),
    ('cmd --file=<(a)', '[cmd --file=<([a])]'),
    ('cat <<EOF\na $x $(rm y) `z`\nEOF\nrm w', '[cat <<‹a ›"${x}"‹ ›"$([rm y])"‹ ›"$([z])"‹\\n›] ; [rm w]'),
    ("cat <<'EOF'\na $x $(rm y)\nEOF", '[cat <<!‹a $x $(rm y)\\n›] ;'),
    ('cat <<"EOF" | sh\nrm x\nEOF', 'pipe<[cat <<!‹rm x\\n›] | [sh]> ;'),
    ('cat <<E\\OF && b\n$x\nEOF', '[cat <<!‹$x\\n›] && [b] ;'),
    ('cat <<-EOF\n\t\ta\n\tEOF\nb', '[cat <<-‹a\\n›] ; [b]'),
    ('cat <<A <<B; c\na\nA\nb\nB\nd', '[cat <<‹a\\n› <<‹b\\n›] ; [c] ; [d]'),
    ('x=$(cat <<EOF\nhi\nEOF\n)\ny', '[x=$([cat <<‹hi\\n›] ;)] ; [y]'),
    ('while read x; do a; done <<EOF\n1\nEOF\nb', 'while [read x] ; do [a] ; done <<‹1\\n› ; [b]'),
    ('for i in 1; do cat <<EOF\n$i\nEOF\ndone', 'for i in 1 do [cat <<"${i}"‹\\n›] ; done'),
    ('cat <<EOF |\nhi\nEOF\nsh', 'pipe<[cat <<‹hi\\n›] | [sh]>'),
    ('cat <<EOF\nunfinished', '[cat <<‹unfinished›] ;'),
    ('cat << EOF > f\nx\nEOF', '[cat <<‹x\\n› >f] ;'),
    ("cat > f << 'E F'\nx\nE F\nls", '[cat >f <<!‹x\\n›] ; [ls]'),
    ('cat <<EOF; rm x\na\\$b "q" \\\\ \\n\nEOF', '[cat <<‹a$b "q" \\ \\n\\n›] ; [rm x] ;'),
    ('(cat <<EOF\nhi\nEOF\n) | sh', 'pipe<( [cat <<‹hi\\n›] ; ) | [sh]>'),
    ('cat <<< "a $b" <<<c', '[cat <<<‹a ›"${b}" <<<c]'),
    ('cat <<EOF\nEOF', '[cat <<‹›] ;'),
    ("cat <<EOF && cat <<'EOF2'\nx\nEOF\ny\nEOF2", '[cat <<‹x\\n›] && [cat <<!‹y\\n›] ;'),
    ('${x} ${x:-a b} ${x:-"$y"} ${x%.*} ${x##*/} ${x/a/b} ${x//a/b} ${x:1:2} ${#x} ${!x} ${x[@]} ${x[0]} ${@:2} ${x^^} ${x,,} ${x@Q} ${1} ${10} $1 $10 $@ $$ $? ${x:?msg} ${x:+y} ${x:=z} ${x=z} ${#} ${#@} ${!x@} ${!x*} ${x:-${y:-z}}', '[${x} ${x :- a b} ${x :- "${y}"} ${x % .*} ${x ## */} ${x / a/b} ${x // a/b} ${x : 1:2} ${x #} ${x !} ${x} ${x} ${@ : 2} ${x ^^} ${x ,,} ${x @ Q} ${1} ${10} ${1} ${1}0 ${@} ${$} ${?} ${x :? msg} ${x :+ y} ${x := z} ${x = z} ${#} ${@ #} ${x !} ${x ! *} ${x :- ${y :- z}}]'),
    ('"${x:-\'a\'}" "${x:-"a b"}" ${x:-\'}\'} "${x%"}"}"', '["${x :- ‹\'›‹a›‹\'›}" "${x :- ‹a b›}" ${x :- ‹}›} "${x % ‹}›}"]'),
    ('$"hi $x" $\'\\x41\\101\\u00e9\\\'\\\\\' $[1+2]', '["${  ‹hi ›"${x}"}" ‹AAé\'\\› $(())]'),
    ('\'a\'"b"c$d\\e', '[‹a›‹b›c${d}‹e›]'),
    ('"" \'\'', '[‹› ‹›]'),
    ('a "" b', '[a ‹› b]'),
    ('echo "\\$x \\" \\\\ \\a \\\nb"', '[echo ‹$x " \\ \\a b›]'),
    ('$( rm x )', '[$([rm x])]'),
    ('$(\nrm x\n)', '[$([rm x] ;)]'),
    ('echo $(rm x # c )\n)', '[echo $([rm x] ;)]'),
    ('a | b; c | d', 'pipe<[a] | [b]> ; pipe<[c] | [d]>'),
    ('a |\nb', 'pipe<[a] | [b]>'),
    ('a &&\n# c\nb', '[a] && [b]'),
    (';a', '[a]'),
    ('a &&', '[a] &&'),
    ('éà ls ünïcode 日本 "ñ"', '[éà ls ünïcode 日本 ‹ñ›]'),
    ("ls 'a\nb' c", '[ls ‹a\\nb› c]'),
    ('ls\xa0x', '[ls\xa0x]'),
    ('cmd --opt=val -- -x', '[cmd --opt=val -- -x]'),
    ('rm -rf ~/x ~user/y ~+ a=~/b', '[rm -rf ~/x ~user/y ~+ a=~/b]'),
    ("alias ll='ls -l'; ll", '[alias ll=‹ls -l›] ; [ll]'),
    ('a=b c=d', '[a=b c=d]'),
    ('a="$(x)" b', '[a="$([x])" b]'),
    ('a[1+2]=x b', '[a=x b]'),
    ('a[$i]=x', '[a=x]'),
    ('echo a=(b)', '[echo a=(b)]'),
    ('echo $((16#ff)) $((a<<2)) $((x?1:2)) $(( (1+2)*3 ))', '[echo $((16#ff)) $((a<<2)) $((x?1:2)) $(((1+2)*3))]'),
    ('((x<<2)); echo y', 'test(x<<2) ; [echo y]'),
    ('! { a; }', '{ [a] ; }'),
    ('time { a; }', '{ [a] ; }'),
    ('time ( a ) | b', 'pipe<( [a] ) | [b]>'),
    ('if ! a; then b; fi', 'branch([a] ; / [b] ;)'),
    ('if { a; }; then b; fi', 'branch({ [a] ; } ; / [b] ;)'),
    ('if (a) then b; fi', 'branch(( [a] ) / [b] ;)'),
    ('while :; do a; done | b', 'pipe<while [:] ; do [a] ; done | [b]>'),
    ('{ a; }|b', 'pipe<{ [a] ; } | [b]>'),
    ('{ a; } & b', '{ [a] ; } & [b]'),
    ('(a);(b)', '( [a] ) ; ( [b] )'),
    ('(a)&&(b)', '( [a] ) && ( [b] )'),
    ('for i in $(ls); do a; done; b', 'for i in $([ls]) do [a] ; done ; [b]'),
    ('function f() { a; }; function g { b; }', 'fn f { [a] ; } ; fn g { [b] ; }'),
    ("echo $'a\\'b' c", "[echo ‹a'b› c]"),
    ('echo \\# a', '[echo ‹#› a]'),
    ('a\\\nb', '[ab]'),
    ('a;\nb\n;', '[a] ; [b] ;'),
    (' a', '[a]'),
    ('', ''),
    ('\n\n', ''),
    ('  \t', ''),
    ('if a\nthen\n  b\nfi\nc', 'branch([a] ; / [b] ;) ; [c]'),
    ('let "x=1" y=2', '[let ‹x=1› y=2]'),
    ('[ "$a" = "(" ]', '[[ "${a}" = ‹(› ]]'),
    ('test a -a \\( b \\)', '[test a -a ‹(› b ‹)›]'),
    ('find . \\( -name a -o -name b \\) -exec rm {} \\;', '[find . ‹(› -name a -o -name b ‹)› -exec rm {} ‹;›]'),
    ('find . -exec rm {} +', '[find . -exec rm {} +]'),
    ('cmd \'{"a": 1}\' {"b"}', '[cmd ‹{"a": 1}› {‹b›}]'),
    ("jq '.a | .b' f", '[jq ‹.a | .b› f]'),
    ("awk '{print $1}' f", '[awk ‹{print $1}› f]'),
    ('echo {} {a} {a,b', '[echo {} {a} {a,b]'),
    ('git stash@{1} HEAD@{u}', '[git stash@{1} HEAD@{u}]'),
    ('a 2>&1>f', '[a 2>&1 >f]'),
    ('a >f;b', '[a >f] ; [b]'),
    ('a>f b', '[a b >f]'),
    ('a>&f b', '[a b >&f]'),
    ('a&>f b', '[a b &>f]'),
    ('a&b', '[a] & [b]'),
    ('a 1>&2 2>&-', '[a 1>&2 2>&-]'),
    ('cat <&3 >&$fd', '[cat <&3 >&${fd}]'),
    ('read -r x <<<"$(a)" && b', '[read -r x <<<"$([a])"] && [b]'),
    ('echo "${a[@]}" "${a[*]}" "$@" "$*"', '[echo "${a}" "${a}" "${@}" "${*}"]'),
    ('echo "${a[$i]}" ${a["k"]} ${a[$(x)]}', '[echo "${a}" ${a} ${a [ "$([x])"}]'),
    ('echo "${x//\\//_}" ${x//\\}/a}', '[echo "${x // ‹/›‹/_›}" ${x // ‹}›/a}]'),
    ('echo ${x/#a/b} ${x/%a/b}', '[echo ${x /# a/b} ${x /% a/b}]'),
    ('echo "${x:-$(rm y)}"', '[echo "${x :- "$([rm y])"}"]'),
    ('echo "$(cat <<\'EOF\'\nit\'s\nEOF\n)"', '[echo "$([cat <<!‹it\'s\\n›] ;)"]'),
    ('git commit -m "$(cat <<\'EOF\'\na (b\nEOF\n)"', '[git commit -m "$([cat <<!‹a (b\\n›] ;)"]'),
    ('echo $(( a[1] + ${b} ))', '[echo $((‹ a[1] + ›"${b}"‹ ›))]'),
    ('a $(b <<X) c\nd\nX\ne', '[a $([b <<‹d\\n›]) c] ; [e]'),
    ('a <<X; b <<Y\n1\nX\n2\nY', '[a <<‹1\\n›] ; [b <<‹2\\n›] ;'),
    ('a "$(b <<X\n1\nX\n)" <<Y\n2\nY', '[a "$([b <<‹1\\n›] ;)" <<‹2\\n›] ;'),
    ('f() { a; } 2>/dev/null; b', 'fn f { [a] ; } 2>/dev/null ; [b]'),
    ('a && ! b', '[a] && [b]'),
    ('if [[ a ]] then b; fi', 'branch(test(a) / [b] ;)'),
    ('for f in *; do [ -d "$f" ] || continue; rm "$f"; done', 'for f in * do [[ -d "${f}" ]] || [continue] ; [rm "${f}"] ; done'),
    ('echo ${x:-a}b"c"\'d\'', '[echo ${x :- a}b‹c›‹d›]'),
    ('((a)) || ((b))', 'test(a) || test(b)'),
    ('( (a); (b) )', '( ( [a] ) ; ( [b] ) )'),
    ('((a); b)', '( ( [a] ) ; [b] )'),
    ('echo "$((1+1))"$((2))', '[echo $((1+1))$((2))]'),
    ('echo a\\;b a\\&b a\\|b', '[echo a‹;›b a‹&›b a‹|›b]'),
    ('echo a;# rm -rf /', '[echo a] ;'),
    ('cat <<\'EOF\' >f; rm x\n"unbalanced\nEOF', '[cat <<!‹"unbalanced\\n› >f] ; [rm x] ;'),
    ('echo $(echo ")") $(echo \\)) $(echo \')\')', '[echo $([echo ‹)›]) $([echo ‹)›]) $([echo ‹)›])]'),
    ('echo $(# c )\na)', '[echo $([a])]'),
    ('echo "a`b`c" a`b`c', '[echo ‹a›"$([b])"‹c› a$([b])c]'),
    ('> f < g 2>h', '[>f <g 2>h]'),
    ('a=1>f', '[a=1 >f]'),
    ('a= b', '[a= b]'),
    ('case x in (a|b) c;; esac; d', 'branch(x a b: [c]) ; [d]'),
    ('case x in a) b ;; *) c ;; esac | d', 'pipe<branch(x a *: [b] / [c]) | [d]>'),
    ('case x in "a b"|\'c d\') e;; esac', 'branch(x ‹a b› ‹c d›: [e])'),
    ('case if in if) a;; then) b;; esac', 'branch(if if then: [a] / [b])'),
    ('for if in a; do b; done', 'for if in a do [b] ; done'),
    ('until a; b; do c; done', 'until [a] ; [b] ; do [c] ; done'),
    ('if a; b; then c; d; fi', 'branch([a] ; [b] ; / [c] ; [d] ;)'),
    ('{ { a; }; }', '{ { [a] ; } ; }'),
    ('a | { b; } | (c)', 'pipe<[a] | { [b] ; } | ( [c] )>'),
    ('a | while read x; do b; done', 'pipe<[a] | while [read x] ; do [b] ; done>'),
    ('a | if b; then c; fi', 'pipe<[a] | branch([b] ; / [c] ;)>'),
    ('a || exit 1', '[a] || [exit 1]'),
    ('rm x\u2028rm y', '[rm x\u2028rm y]'),
    ('a\x0bb', '[a\x0bb]'),
    ('a{b', '[a{b]'),
    ('}a', '[}a]'),
    ('a }', '[a }]'),
    ('echo {a;b}\n', '[echo {a] ; [b}] ;'),
    ("echo $(( $(date +'%s') + 1 ))", '[echo $((‹ ›"$([date +‹%s›])"‹ + 1 ›))]'),
    ('a[$(rm x)]=1', '[=$(("$([rm x])")) a=1]'),
    ('echo $[ $(rm x) ]', '[echo $((‹ ›"$([rm x])"‹ ›))]'),
    ('[[ -f <(rm x) ]]', 'test(-f <([rm x]))'),
    ('x >! f', '[x >f]'),
    ('x >>|f', '[x >>f]'),
    ('x >!f', '[x >f]'),
    ('a[0]=b', '[a=b]'),
    ('coproc N while a; do b; done', 'while [a] ; do [b] ; done'),
    ('coproc N (a)', '( [a] )'),
    ('echo ${a[`x`]:-y}', '[echo ${a [ "$([x])"y}]'),
    ('echo $(( "$(a)" ))', '[echo $((‹ "›"$([a])"‹" ›))]'),
    ("a $'x\\0y'z", '[a ‹x›z]'),
    ('a 2>&1-', '[a 2>&1-]'),
    ('function f { a; } >b', 'fn f { [a] ; } >b'),
    ('( cat <<A\nx\nA\n)', '( [cat <<‹x\\n›] ; )'),
    ('while a; do cat <<A; done\nx\nA', 'while [a] ; do [cat <<‹x\\n›] ; done ;'),
    ('if a; then cat <<A; fi\nx\nA\nb', 'branch([a] ; / [cat <<‹x\\n›] ;) ; [b]'),
    ('a <<A | b <<B | c\n1\nA\n2\nB', 'pipe<[a <<‹1\\n›] | [b <<‹2\\n›] | [c]> ;'),
    ('a <<$x\ny\n$x\nb', '[a <<‹y\\n›] ; [b]'),
    ("cat <<-'A B'\n\tx\n\tA B\ny", '[cat <<-!‹x\\n›] ; [y]'),
    ('cat <<A\n\tA\nA\nb', '[cat <<‹\\tA\\n›] ; [b]'),
    ('a <<""\nx\n\nb', '[a <<!‹x\\n›] ; [b]'),
    ('x() { cat <<A; }\n1\nA\nx', 'fn x { [cat <<‹1\\n›] ; } ; [x]'),
    ('rm a \\\n# no comment\nb', '[rm a] ; [b]'),
    ('a ${x:-`b`}', '[a ${x :- $([b])}]'),
    ('a "${x:-`b`}"', '[a "${x :- "$([b])"}"]'),
    ('a $((`b`))', '[a $(("$([b])"))]'),
    ('a & ; b', '[a] & [b]'),
    ('a;\n\n;b', '[a] ; [b]'),
    ('a\n\n\nb', '[a] ; [b]'),
    ('a=$(b)c d', '[a=$([b])c d]'),
    ('"a"=b c', '[‹a›=b c]'),
    ('a\\=b c', '[a‹=›b c]'),
    ('a$x=b', '[a${x}=b]'),
    ('$x=a b', '[${x}=a b]'),
    ('a=~/b:~/c', '[a=~/b:~/c]'),
    ('a ~"/b"', '[a ~‹/b›]'),
    ('case a in\n# c\nb) d ;; # e\nesac', 'branch(a b: [d])'),
    ('for a in b; do # c\nd; done', 'for a in b do [d] ; done'),
    ('a #b\n#c\n d', '[a] ; [d]'),
    ('{ #c\na; }', '{ [a] ; }'),
    ('[[ a && b ]] && c', 'test(a b) && [c]'),
    ('[[ ! a =~ b ]]', 'test(! a =~ b)'),
    ('[[ $(a) == $(b) ]]', 'test($([a]) == $([b]))'),
    ('a <(b | c) > >(d)', '[a <(pipe<[b] | [c]>) >>([d])]'),
    ('! a | b', 'pipe<[a] | [b]>'),
    ('time -p ! a', '[a]'),
    ('$(a) $(b)', '[$([a]) $([b])]'),
    ('`a` b', '[$([a]) b]'),
    ('a | ! b', 'pipe<[a] | [b]>'),
    ('if a; then :; elif b; then c; fi', 'branch([a] ; / [:] ; / [b] ; / [c] ;)'),
    ('a >$(b)', '[a >$([b])]'),
    ('a <<<$(b)', '[a <<<$([b])]'),
    ('a 10>f 3<g', '[a 10>f 3<g]'),
    ('a {x}<f', '[a {x}<f]'),
]

# What no shell accepts: the mistake, and what was read in front of it (a shell has run that much by then).
BROKEN = [
    ('a;;', "unexpected ';'", '[a]'),
    ('a;;b', "unexpected ';'", '[a]'),
    ('a ) b', "unexpected ')'", '[a]'),
    ('( a', "expected ')', found 'the end'", ''),
    ('{ a; ', "expected '}'", ''),
    ('{ a }', "expected '}'", ''),
    ('{a; }', "unexpected '}'", '[{a]'),
    ('if a; then b', "expected 'fi'", ''),
    ('echo "abc', 'a double quote is not closed', ''),
    ("echo 'abc", 'a quote is not closed', ''),
    ('echo `abc', 'a backtick is not closed', ''),
    ('echo $(abc', "expected ')', found 'the end'", ''),
    ('echo ${abc', "expected '}'", ''),
    ('a |', 'a command is missing at the end', ''),
    ('| a', "unexpected '|'", ''),
    ('&& a', "unexpected '&'", ''),
    ('a > ', 'a file name is missing behind a redirection', ''),
    ('a <<', "a here-document's end word is missing", ''),
    ('for', "expected 'do'", ''),
    ('done', "unexpected 'd'", ''),
    ('fi; a', "unexpected 'f'", ''),
    ('case x', "expected 'in'", ''),
    ('[[ a', "expected ']]'", ''),
    ('echo $((1+2)', "expected ')', found 'the end'", ''),
    ('esac', "unexpected 'e'", ''),
    ('while a; do b; done; done', "unexpected 'd'", 'while [a] ; do [b] ; done'),
    ('if a; then b; fi fi', "unexpected 'f'", 'branch([a] ; / [b] ;)'),
    ('{ a; } b', "unexpected 'b'", '{ [a] ; }'),
    ('(a) b', "unexpected 'b'", '( [a] )'),
    ('echo (a)', "unexpected '('", ''),
    ('a (b)', "unexpected '('", ''),
    ('function', 'a command is missing at the end', ''),
    ('f()', 'a command is missing at the end', ''),
    ('x=(a', "expected ')'", ''),
    ('coproc', 'a command is missing at the end', ''),
    ('a\n|b', "unexpected '|'", '[a]'),
]
# fmt: on


@pytest.mark.parametrize(("line", "structure"), LINES, ids=[line[:40] for line, _ in LINES])
def test_a_line_is_read_into_its_structure(line: str, structure: str) -> None:
    assert dump(read(line)) == structure


@pytest.mark.parametrize(("line", "mistake", "before"), BROKEN, ids=[line[:40] for line, _, _ in BROKEN])
def test_a_broken_line_is_refused_with_what_stands_before_the_mistake(line: str, mistake: str, before: str) -> None:
    with pytest.raises(Unreadable) as refused:
        read(line)
    assert str(refused.value) == mistake
    assert " ; ".join(map(dump, refused.value.done)) == before
    assert 0 <= refused.value.position <= len(line)


@pytest.mark.parametrize(
    "opening", ["(", "{ ", "$(", '"$(', "if ", "a | (", "${x:-", "$((", "<(", "`\\`", "f() ", "case x in (a) "]
)
def test_nesting_deeper_than_anybody_writes_is_refused_not_crashed(opening: str) -> None:
    with pytest.raises(Unreadable):
        read(opening * (MAX_NESTING + 2))
    with pytest.raises(Unreadable):
        read(opening * 20_000)


def test_nesting_up_to_the_limit_is_read() -> None:
    depth = MAX_NESTING - 2
    assert dump(read("( " * depth + "rm x" + " )" * depth)).count("[rm x]") == 1
    assert dump(read("$(" * 60 + "rm x" + ")" * 60)).count("[rm x]") == 1


def test_offsets_of_top_level_commands_are_their_text() -> None:
    line = "cd /x && rm -rf y; (a | b) >f\nfor i in 1; do c; done"
    assert [line[item.start : item.end].strip() for item in read(line).items] == [
        "cd /x", "rm -rf y", "(a | b)", "for i in 1; do c; done",
    ]  # fmt: skip


# -- lines that no shell would accept --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("rm -rf ~ )", "[rm -rf ~]"),
        ("if rm -rf ~", "[rm -rf ~]"),
        ("ls x(.N) ; rm -rf /", "[rm -rf /]"),
        ("echo 'open ; rm -rf /", "[rm -rf /]"),
        ('echo "open\nrm -rf /\n', "[rm -rf /]"),
        ("for x (a b) { rm -rf $x }", "[rm -rf ${x}]"),
        ("while true rm -rf x", "[true rm -rf x]"),
    ],
)
def test_what_can_be_made_out_of_a_broken_line_is_found(line: str, found: str) -> None:
    with pytest.raises(Unreadable):
        read(line)
    assert found in dump(recover(line))


def test_recovery_finds_a_command_behind_thousands_of_lines() -> None:
    assert "[rm -rf /]" in dump(recover("true )\n" * 30_000 + "rm -rf / )"))


def test_plain_pieces_take_an_unmatched_quote_for_a_character() -> None:
    assert plain_pieces("it's; rm x && y") == ["it s", "rm x", "y"]


# -- against another reader ------------------------------------------------------------------------------------


def names_by_tree_sitter(text: str) -> list[str] | None:
    """The first words of the simple commands that tree-sitter-bash sees, None when it sees an error."""
    parser = bash_parser()
    assert parser is not None
    source = text.encode()
    root = parser.parse(source).root_node
    if root.has_error:
        return None
    names: list[str] = []
    todo = [root]
    while todo:
        node = todo.pop()
        if node.type == "command":
            name = node.child_by_field_name("name")
            names.append(source[name.start_byte : name.end_byte].decode() if name is not None else "")
        elif node.type in ("declaration_command", "unset_command"):
            first = node.children[0]
            names.append(source[first.start_byte : first.end_byte].decode())
        todo.extend(node.children)
    return [_unquoted(name) for name in names]


def _unquoted(name: str) -> str:
    try:
        first = read(name).items[0]
    except (Unreadable, IndexError):
        return "?"
    return _literal(first.words[0]) if isinstance(first, Command) and first.words else "?"


def _literal(parts: Word) -> str:
    return "".join(p[1] for p in parts) if all(p[0] in "tq" for p in parts) else "?"


def names_by_us(node: Node, out: list[str]) -> list[str]:
    words: list[Word] = []
    below: list[Node] = []
    if isinstance(node, Sequence):
        below = node.items
    elif isinstance(node, Pipeline):
        below = node.stages
    elif isinstance(node, Command):
        if node.words:
            out.append(_literal(node.words[0]))
        words = [*(value for _, value, _ in node.assigns), *node.words]
    elif isinstance(node, (Group, Function)):
        below = [node.body]
    elif isinstance(node, Loop):
        words = list(node.words or [])
        below = [node.body] if node.condition is None else [node.condition, node.body]
    elif isinstance(node, Branch):
        words, below = list(node.words), node.bodies
    elif isinstance(node, Condition):
        words = list(node.words)
    words += [r.word for r in getattr(node, "redirects", [])]
    while words:
        for p in words.pop():
            if p[0] in ("c", "p"):
                below = [*below, p[1]]
            elif p[0] == "v" and p[3]:
                words.append(p[3])
            elif p[0] == "a":
                words.append(p[1])
            elif p[0] == "A":
                words += p[1]
    for inner in below:
        names_by_us(inner, out)
    return out


def compared(text: str) -> tuple[str, list[str], list[str] | None]:
    """ "same", "error" (tree-sitter sees one), the known fault of tree-sitter-bash 0.25 that explains the difference,
    or "" when nothing does; and both lists of names."""
    theirs = names_by_tree_sitter(text)
    if theirs is None:
        return "error", [], None
    try:
        ours = names_by_us(read(text), [])
    except Unreadable:
        ours = None
    if ours is not None and sorted(n for n in ours if n != "[") == sorted(n for n in theirs if n != "["):
        return "same", theirs, ours
    if "time" in theirs and (ours is None or "time" not in ours):
        return "time is a reserved word, taken for a program", theirs, ours
    if "coproc" in theirs:
        return "coproc is a reserved word, taken for a program", theirs, ours
    if "<<" in text and ("`" in text or "$(" in text):
        return "substitutions at the start of a here-document are lost", theirs, ours
    if ours is not None and any("=" in name for name in ours):
        return "a first word with = in it is taken for an assignment (--x=y, 1A=2)", theirs, ours
    if ours is not None and "!" in ours:
        return "! behind an assignment is an ordinary word", theirs, ours
    if ours is None and "(" in text:
        return "name(word) is no shell line; taken for a command and a string", theirs, ours
    if ours is None and Counter(theirs) & Counter(("fi", "do", "done", "then", "esac", "else")):
        return "a reserved word that closes nothing is a mistake; taken for a program", theirs, ours
    if text.startswith("["):
        return "[abc] is a word; taken for a test", theirs, ours
    return "", theirs, ours


def rule_examples() -> list[str]:
    found: list[str] = []
    for pack in sorted((ROOT / "policies" / "rules").glob("*.toml")):
        for rule in tomllib.loads(pack.read_text())["rule"]:
            found += [line for key in ("match", "no_match", "suggest") for line in rule.get(key, [])]
    return found


def corpus_lines(most: int) -> list[str]:
    files = [*sorted((CORPUS / "commands").glob("*.jsonl")), CORPUS / "everyday.jsonl"]
    lines = [json.loads(row)["command"] for file in files if file.exists() for row in file.read_text().splitlines()]
    return random.Random(20).sample(lines, min(most, len(lines)))


def _agreement(lines: list[str]) -> tuple[float, list[tuple[str, list[str], list[str] | None]], Counter[str]]:
    verdicts: Counter[str] = Counter()
    unexplained = []
    for line in lines:
        verdict, theirs, ours = compared(line)
        verdicts[verdict or "unexplained"] += 1
        if not verdict:
            unexplained.append((line, theirs, ours))
    compared_at_all = sum(verdicts.values()) - verdicts["error"]
    return verdicts["same"] / compared_at_all, unexplained, verdicts


needs_tree_sitter = pytest.mark.skipif(bash_parser() is None, reason="tree-sitter-bash is not installed")


@needs_tree_sitter
def test_both_readers_see_the_same_commands_in_every_rule_example() -> None:
    share, unexplained, verdicts = _agreement(rule_examples())
    print(f"\nrule examples: {share:.2%} agree; {dict(verdicts)}")
    assert unexplained == []
    assert share >= 0.98


@needs_tree_sitter
@pytest.mark.skipif(not CORPUS.exists(), reason="the corpus is not part of the project")
def test_both_readers_see_the_same_commands_in_other_peoples_lines() -> None:
    share, unexplained, verdicts = _agreement(corpus_lines(2000))
    print(f"\ncorpus sample: {share:.2%} agree; {dict(verdicts)}")
    assert share >= 0.98
    assert len(unexplained) <= 5, unexplained
