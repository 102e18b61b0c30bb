"""Splitting an argument vector into positional words and options, the same way for readers and rules."""

from __future__ import annotations

# Options that take the next word as their value.  Without this a value would be read as a subcommand.
VALUED: dict[str, frozenset[str]] = {
    name: frozenset(flags.split())
    for names, flags in (
        ("git", "-C -c --git-dir --work-tree --namespace --exec-path --super-prefix --config-env"),
        ("docker podman nerdctl", "-H --host --context -c --config -l --log-level --tlscacert --tlscert --tlskey -f --file -p --project-name --profile --env-file --project-directory --filter --format"),
        ("docker-compose", "-f --file -p --project-name --profile --env-file --project-directory --context -H --host"),
        ("kubectl oc k kubecolor", "-n --namespace --context --cluster --kubeconfig --user --as --as-group -s --server --token --request-timeout -f --filename -o --output -l --selector -c --container --field-selector --timeout --cache-dir -k --kustomize -v --replicas --grace-period"),
        ("helm", "-n --namespace --kube-context --kubeconfig -f --values --set --set-string --version --timeout --kube-apiserver --kube-token --repo --registry-config --repository-cache --repository-config"),
        ("aws", "--region --profile --output --endpoint-url --query --ca-bundle --cli-read-timeout --cli-connect-timeout --color --acl --cidr --principal --desired-count --desired-capacity --policy-arn"),
        ("gcloud gsutil bq", "--project --account --configuration --format --region --zone --impersonate-service-account --verbosity -h -o -u -i --filter"),
        ("az", "--subscription -g --resource-group --output -o --query -n --name --ids"),
        ("terraform tofu terragrunt", "-chdir -target -var -var-file -state -out -backup -lock-timeout -parallelism --terragrunt-working-dir"),
        ("npm pnpm yarn bun", "--prefix --registry --tag --otp --cwd -C --dir -w --workspace --filter --access --userconfig --loglevel"),
        ("cargo", "--manifest-path --config --color -Z -C --target --target-dir --registry --token --index -p --package --features"),
        ("gh glab", "-R --repo --hostname -X --method"),
        ("systemctl", "-H --host -M --machine -t --type -p --property --state -n --lines -o --output --job-mode -s --signal"),
        ("psql", "-h --host -p --port -U --username -d --dbname -c --command -f --file -v --set -o --output -L -P -F -R -T"),
        ("mysql mariadb mysqladmin", "-h --host -P --port -u --user -D --database -e --execute -S --socket"),
        ("redis-cli", "-h -p -a -n -u --user --pass -r -i -s --pipe-timeout --pattern"),
        ("vault bao", "--namespace --address -address -namespace -format -field -mount -ca-cert -ca-path -client-cert -client-key -version -versions"),
        ("heroku", "-a --app -r --remote -t --team"),
        ("fly flyctl", "-a --app -c --config -t --access-token"),
        ("doctl", "-t --access-token -c --config --context -o --output --format"),
        ("vercel", "-t --token -S --scope -A --local-config --cwd"),
        ("pip pip3 uv", "--python --proxy --timeout --index-url -i --extra-index-url -r --requirement -c --constraint -t --target --prefix --root --cache-dir --directory --project"),
        ("make gmake", "-C -f -o -W -I --directory --file"),
        ("ansible-playbook ansible", "-i --inventory -l --limit -e --extra-vars -u --user -t --tags --skip-tags -m --module-name -a --args -f --forks"),
        ("rsync", "-e --rsh --exclude --include --filter -f --exclude-from --include-from --files-from --log-file --password-file --port --bwlimit --backup-dir --suffix -T --temp-dir --compare-dest --copy-dest --link-dest --timeout --chmod --chown --max-size --min-size"),
        ("systemd-run", "-u --unit -p --property --uid --gid --slice --description -E --setenv --working-directory -t --on-calendar --on-active --on-boot --on-startup --on-unit-active --on-unit-inactive --timer-property --path-property --socket-property --nice --service-type -H --host -M --machine -C --capsule --background --json"),
        ("firebase", "-P --project --token --only --except"),
        ("wrangler", "-c --config -e --env"),
        ("pulumi", "-s --stack -C --cwd --color -t --target --config-file"),
        ("nomad consul", "-address -namespace -region -token -ca-cert -http-addr -datacenter"),
        ("dropdb createdb", "-h --host -p --port -U --username -O --owner -E --encoding -T --template -D --tablespace -l --locale --maintenance-db"),
        ("pg_restore pg_dump", "-h --host -p --port -U --username -d --dbname -f --file -t --table -n --schema -j --jobs -F --format -L"),
        ("restic", "-r --repo --repository-file -p --password-file --password-command --cache-dir --tag --host -H --path -o --option --limit-upload --limit-download --compression --pack-size --cacert --keep-last -l --keep-hourly --keep-daily -d --keep-weekly -w --keep-monthly -m --keep-yearly -y --keep-within --keep-tag --key-hint --exclude -e --max-unused"),
        ("borg borgmatic", "-r --repo --rsh --remote-path --lock-wait --upload-ratelimit -a --glob-archives --match-archives -P --prefix --first --last --sort-by --keep-last --keep-within --keep-hourly -H --keep-daily -d --keep-weekly -w --keep-monthly -m --keep-yearly -y --exclude -e --comment --compression -C"),
        ("rclone", "--config --transfers --checkers --bwlimit --log-file --include --exclude --filter --max-age --min-age"),
        ("mc", "--config-dir -C"),
        ("azcopy", "--delete-destination --output-type --log-level"),
        ("kops", "--name --state --config -v"),
        ("eb", "--profile --region -r"),
        ("velero ark", "-n --namespace --kubeconfig --kubecontext"),
        ("argocd", "--server --auth-token --config --grpc-web-root-path -N --app-namespace"),
        ("circleci", "--token --host"),
        ("netlify", "--auth --site -s --filter"),
        ("supabase", "--workdir --project-ref --profile"),
        ("scw oci openstack ibmcloud", "-p --profile --config -c --region --os-cloud --os-region-name --auth --config-file --compartment-id"),
        ("rabbitmqctl rabbitmqadmin", "-n --node -t --timeout -p --vhost -H --host -P --port -u --username --password -V -c --config"),
        ("nats", "-s --server --context --user --password --creds --timeout"),
        ("etcdctl", "--endpoints --cacert --cert --key --user"),
        ("jenkins-cli", "-s -auth -i -user -logger -noCertificateCheck"),
        ("zfs zpool btrfs lvm", "-o -O -t -r -T"),
        ("sqlcmd", "-S -U -P -d -Q -q -i -o"),
        ("snow snowsql", "-c --connection -q --query -f -a -u -d -s -r -w"),
        ("conda mamba", "-n --name -p --prefix -c --channel -f --file"),
        ("poetry pipenv pdm hatch", "-C --directory --project -P -e --env"),
    )
    for name in names.split()
}  # fmt: skip

# Programs whose options are one dash and a word: -auto-approve is not -a -u -t …
LONG_DASH = frozenset(
    (
        "terraform", "tofu", "terragrunt", "find", "java", "ffmpeg", "convert", "openssl", "packer", "consul", "vault", "nomad",
        "xcodebuild", "powershell", "pwsh", "go", "javac", "gcc", "clang", "dig", "osascript", "qemu-img", "mvn", "gradle", "screen",
        "xwd", "exiftool", "php", "mplayer", "certutil", "msiexec", "ldapdelete", "sfdx", "iptables", "magick", "ant", "govc", "jenkins-cli",
    )
)  # fmt: skip


def split_options(name: str, args: list[str]) -> tuple[list[str], frozenset[str]]:
    """Positional words in order, and options normalised: ``-rf`` as -rf, -r, -f; ``--x=y`` as --x and --x=y;
    a valued option as ``-n`` and ``-n=value``."""
    positional: list[str] = []
    flags: set[str] = set()
    valued = VALUED.get(name, frozenset())
    long_dash = name in LONG_DASH
    i, n = 0, len(args)
    while i < n:
        arg = args[i]
        i += 1
        if arg[:1] != "-" or arg == "-":
            positional.append(arg)
            continue
        if arg == "--":
            positional += args[i:]
            break
        flags.add(arg)
        name_part, mark, _ = arg.partition("=")
        if mark:
            flags.add(name_part)
        elif arg in valued:
            # A word with a dash is the next option: docker -f is a switch in one place and takes a file in another.
            if i < n and (args[i][:1] != "-" or len(args[i]) == 1):
                flags.add(arg + "=" + args[i])
                i += 1
            continue
        if arg[1] != "-" and not long_dash and len(arg) > 2:
            for c in name_part[1:]:
                if not c.isalpha():
                    break
                flags.add("-" + c)
    return positional, frozenset(flags)


def value_of(args: list[str], *names: str) -> str | None:
    """The value of the first option out of ``names``: next word, after ``=``, or glued to a short option."""
    for i, arg in enumerate(args):
        for name in names:
            if arg == name:
                return args[i + 1] if i + 1 < len(args) else None
            if arg.startswith(name + "=") and name[:2] == "--":
                return arg[len(name) + 1 :]
            if name[:2] != "--" and len(name) == 2 and arg.startswith(name) and len(arg) > 2:
                return arg[2:].removeprefix("=")
    return None


def values_of(args: list[str], *names: str) -> list[str]:
    """Every value of the options ``names``."""
    found: list[str] = []
    for i, arg in enumerate(args):
        for name in names:
            if arg == name and i + 1 < len(args):
                found.append(args[i + 1])
            elif arg.startswith(name + "=") and name[:1] == "-":
                found.append(arg[len(name) + 1 :])
            elif name[:2] != "--" and len(name) == 2 and arg.startswith(name) and len(arg) > 2:
                found.append(arg[2:])
    return found


def has(args: list[str], *names: str) -> bool:
    """Whether one of the options stands in ``args``; short ones may be bundled (-rf has -r and -f)."""
    for arg in args:
        if arg == "--":
            return False
        if arg[:1] != "-":
            continue
        for name in names:
            if arg == name or arg.startswith(name + "="):
                return True
            if len(name) == 2 and name[1] != "-" and arg[1:2] != "-" and len(arg) > 2 and name[1] in arg[1:]:
                letters = arg[1:]
                if letters[: letters.index(name[1]) + 1].isalpha():
                    return True
    return False


def operands(args: list[str], *valued: str) -> list[str]:
    """The words that are no options, ``--`` respected; options out of ``valued`` take the next word with them."""
    found: list[str] = []
    i, n = 0, len(args)
    while i < n:
        arg = args[i]
        i += 1
        if arg == "--":
            found += args[i:]
            break
        if arg[:1] == "-" and len(arg) > 1:
            if arg in valued:
                i += 1
            continue
        found.append(arg)
    return found
