"""Which module reads which program.  Written by ``scripts/docs``; a test fails when it is out of date."""

NAMES = {
    "readers": (
        "ack ag base32 base64 basename bat batcat bunzip2 bzcat bzip2 cat ccat cmp column comm cut date diff "
        "dir dirname egrep exa expand eza fgrep fmt fold gbase64 grep gunzip gzcat gzip head hexdump hexyl "
        "hostname iconv id join jq less ls lz4 more most nl nproc od paste pr printenv pygmentize readlink "
        "realpath rev rg seq strings tac tail tput tr uname uniq unxz uuidgen wc which whoami xxd xz xzcat yq "
        "zcat zgrep zstd zstdcat"
    ),
    "files": (
        "blkdiscard bsdtar cfdisk chgrp chmod chown cp dd ed erase ex fd fdfind fdisk find gcp gdisk gfind "
        "gio gmv grm gsed gtar install ln mkdir mke2fs mkfs mkswap mktemp mv newfs nvim parted patch rd rm "
        "rmdir rsync sed setfacl sfdisk sgdisk shred sort split srm tar tee touch trash trash-empty trash-put "
        "unlink unzip vi vim wipe wipefs"
    ),
    "git": "bfg git-filter-repo hub",
    "launch": (
        "abduco alacritty apptainer arch asdf at autossh aws-vault batch bc berglas buildah builtin bundle "
        "bunx busybox bwrap caffeinate capsh catatonit catchsegv ccache cgexec chamber chokidar choom chpst "
        "chronic chroot chrt clush colima command concurrently conda coproc cpulimit crictl cross-env "
        "cross-env-shell daemon daemonize datefudge dbus-launch dbus-run-session dc devbox devenv direnv "
        "distrobox distrobox-enter do doas docker docker-compose dockerize doppler dotenv dotenvx dotool dsh "
        "dtach dumb-init eatmydata emacs emacsclient entr env env-cmd envchain envdir et exec expect fab "
        "fakeroot faketime firejail flatpak-spawn flock flox foot footclient foreman gdb gdbserver genv "
        "ghostty gnome-terminal gosu gtime gtimeout guake guix gxargs hatch heaptrack honcho hyperfine ifne "
        "incus infisical ionice k keep-one-running kgx kitten kitty konsole kubectl ld-linux-aarch64.so.1 "
        "ld-linux-x86-64.so.2 ld-linux.so.2 ld-musl-x86_64.so.1 lerna lima limactl linux32 linux64 lldb "
        "logsave ltrace lxc lxterminal machinectl mamba mate-terminal mise mosh multipass nerdctl nice nix "
        "nix-shell nocorrect nodemon noglob nohup npx nq nsenter numactl nx oc onchange op orb parallel "
        "parallel-ssh pdsh perf pipenv pipx pixi pkexec pnpx podman poetry prlimit proot proxychains "
        "proxychains4 pssh ptyxis pueue py-spy pyenv qemu-aarch64 qemu-x86_64 rbenv reflex retry rlwrap rr "
        "rtk run-one run-one-constantly run-one-until-failure run-one-until-success run-this-one runcon "
        "runuser rustup rxvt rye s6-envdir s6-setuidgid samply sccache screen script sem setarch setlock "
        "setpriv setsid setuidgid sg shx singularity sops ssh sshpass st start-stop-daemon stdbuf strace su "
        "su-exec sudo sudoedit summon systemd-inhibit systemd-nspawn systemd-run taskset teller terminator "
        "terminology then tilix time timeout tini tini-static tmux toolbox torify torsocks toybox trickle tsh "
        "tsp uclampset unbuffer unshare urxvt uv uvx valgrind varlock volta wait-for-it wait-for-it.sh watch "
        "watchexec wezterm with-env wsl wtype x-terminal-emulator xargs xdotool xfce4-terminal xterm xvfb-run "
        "ydotool zellij"
    ),
    "interpreters": (
        ". R Rscript ash bash cmd csh dash fish gmake ipython irb julia ksh lua luajit make mksh osascript "
        "perl posh powershell pwsh pwsh-sh pypy pypy3 rbash ruby sh source tcsh ts-node tsx yash zsh"
    ),
    "network": (
        "GET ab aria2c axel bore cancel chisel clojure cloudflared croc crystal curl curl.exe curlftpfs dart "
        "davfs2 devtunnel dig drill elixir erl fetch ffsend finger frpc ftp ftpput gcsfuse ghc gist go groovy "
        "guile host hping3 http httpie https java jjs jrunscript jshell lftp links localtunnel lp lpr lt "
        "lwp-download lwp-request lynx magic-wormhole mail mailx msmtp mutt nc nc.openbsd nc.traditional ncat "
        "ncftpput netcat ngrok nslookup ocaml octave pastebinit ping pinggy racket rclone resolvectl restic "
        "rlogin runghc rust-script s3fs scala scp sendmail sftp smbclient socat socket sshfs swaks swift "
        "tailscale tclsh telnet tftp transfer w3m wget wget2 whois wish wormhole xh zrok ztcp"
    ),
    "system": (
        "aa-complain aa-disable aa-teardown addgroup adduser apk apt apt-get aptitude arptables auditctl brew "
        "chattr chkconfig chpasswd claude codex crontab csrutil delgroup deluser dnf dscl dseditgroup "
        "ebtables fail2ban-client firewall-cmd fuser gpasswd groupdel halt history init initctl insmod "
        "ip6tables ipfw iptables kill killall launchctl modprobe mokutil mount nft passwd pbpaste pfctl pgrep "
        "pidof pkill poweroff rc-service rc-update reboot rmmod semanage service setcap setenforce shutdown "
        "skill socketfilterfw spctl supervisorctl sv sysadminctl sysctl systemctl taskkill telinit ufw umount "
        "update-rc.d useradd userdel usermod visudo wl-paste xclip xsel yum zypper"
    ),
    "databases": (
        "ALTER DELETE DROP GRANT TRUNCATE UPDATE ace alembic alter artisan atlas beeline bq cake clickhouse "
        "clickhouse-client cockroach console convex couchbase-cli cqlsh cypher-shell dbmate delete diesel "
        "django-admin dotnet dotnet-ef dragonfly-cli drizzle-kit drop dropdb dropuser drush duckdb etcdctl "
        "flask flyway gitlab-psql gitlab-rails gitlab-rake goose gradle gradlew grant hasura hive "
        "impala-shell influx isql keydb-cli knex libsql liquibase litecli manage.py mariadb mariadb-admin "
        "meteor migrate mikro-orm mikro-orm-esm mix mongo mongoimport mongorestore mongosh mssql-cli mvn mvnd "
        "mvnw mycli mysql mysqladmin mysqlimport mysqlsh neo4j-admin node nodejs nodetool osql payload "
        "pg_dropcluster pg_resetwal pg_resetxlog pg_restore pgcli phinx php presto prisma psql python python2 "
        "python3 rails rake redis-cli redwood rw sail sea sea-orm-cli sequelize sequelize-cli snow snowsql "
        "spark-sql sqlcmd sqlite sqlite-utils sqlite3 sqlx supabase trino truncate tsql turso typeorm "
        "typeorm-ts-node-commonjs typeorm-ts-node-esm usql valkey-cli wp yii ysqlsh"
    ),
    "tools": (
        "apply_patch applypatch bun cargo cmake composer del del-cli deno go-task just npm pdm pnpm poe "
        "premove rimraf rm-rf rm-safe rmrf safe-rm task yarn"
    ),
    "cloud": (
        "ansible aws az docker-machine doctl eb fly flyctl gcloud heroku k0s k3s microk8s microk8s.helm "
        "microk8s.helm3 microk8s.kubectl minikube railway rke2 salt salt-call salt-ssh vagrant"
    ),
    "secrets": (
        "7z 7za 7zz awk bw chezmoi cksum dashlane dcli docker-credential-desktop "
        "docker-credential-osxkeychain docker-credential-pass docker-credential-secretservice gawk gh git "
        "git-credential-manager git-credential-osxkeychain glab gnome-keyring gopass gpg gpg2 keepassxc-cli "
        "keyring kwallet-query lpass mawk md5sum nawk openssl pass rar rbw secret-tool security sha1sum "
        "sha256sum sha512sum shasum zip"
    ),
    "own": "jev-use jevhook",
}
# Texts, taken apart at import: a table of 800 texts takes three times as long to load.
MODULE_OF = {name: module for module, names in NAMES.items() for name in names.split()}
