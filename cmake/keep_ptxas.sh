#!/bin/sh
# Runs a compiler and keeps what ptxas says of registers, stack and spills beside the object: OBJECT.ptxas. Usage: keep_ptxas.sh COMPILER …
object=
previous=
for word; do
  [ "$previous" = -o ] && object=$word
  previous=$word
done
"$@" >"$object.ptxas" 2>&1 && exit 0
status=$?
cat "$object.ptxas" >&2
exit $status
