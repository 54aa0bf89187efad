#!/bin/sh
# Makes the secrets of compose.yaml and of deploy/kubernetes, each in a file of its own. Needs openssl, and nothing else.
#
#   sh deploy/secrets.sh FOLDER [DATABASE-HOST]
#
# A folder that is there is left as it is: its keys may be in use.
set -eu
umask 077
folder=${1:?name a folder that is not there yet}
host=${2:-postgres}
mkdir "$folder"

random() { openssl rand -base64 32 | tr '+/' '-_' | tr -d '=\n'; }
digest() { printf %s "$1" | openssl dgst -sha256 -r | cut -d ' ' -f 1; }
put() { printf '%s\n' "$2" >"$folder/$1"; }

password=$(openssl rand -hex 24)
platform=erqk_$(random)
gateway=erqg_$(random)

put database-password "$password"
put store "postgresql://erqiwang:$password@$host/erqiwang"
put platform-key.txt "$platform"
put gateway-key.txt "$gateway"
put platform-keys.json "{\"platforms\": {\"local\": [\"$(digest "$platform")\"]}, \"gateways\": {\"local\": [\"$(digest "$gateway")\"]}}"
put signing-keys.json "{\"keys\": [{\"id\": \"$(openssl rand -hex 8)\", \"secret\": \"$(random)\"}]}"
put grafana-password "$(openssl rand -hex 16)"
