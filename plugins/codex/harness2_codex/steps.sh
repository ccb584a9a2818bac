# Ends an agent that has taken its steps, after what it asked for in the last one was done. Codex has no such limit.
# Arguments: how many, then the command. Its output comes out as it is, its log with it; exit code 0 when ended here.
steps=$1
shift
pipe=${TMPDIR:-/tmp}/steps.$$
mkfifo -m 600 "$pipe" || exit 70
exec 3<&0
"$@" <&3 3<&- >"$pipe" 2>&1 &
agent=$!
exec 3<&- <"$pipe"
rm -f "$pipe"
taken=0
while IFS= read -r line || [ -n "$line" ]; do
  printf '%s\n' "$line"
  case $line in
    2*' TRACE codex_core::session::turn: post sampling token usage '*)
      taken=$((taken + 1))
      case $line in
        *' needs_follow_up=true') more=1 ;;
        *) more=0 ;; # it comes to its end by itself; of a sub-agent, the next answer is one too many
      esac
      if [ $((taken + more)) -gt "$steps" ]; then
        kill -KILL "$agent"
        wait "$agent" 2>/dev/null
        printf '{"type":"harness2.out_of_steps","steps":%s}\n' "$steps"
        exit 0
      fi
      ;;
  esac
done
wait "$agent"
