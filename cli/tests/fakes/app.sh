#!/bin/sh
# A program under test without CUDA: speaks the driver's side of the protocol, and behaves as its first
# argument says. What it does is a function of its orders alone.
orders=$BUGAROO_ORDERS
field() { value=${orders#*\"$1\":}; value=${value%%[,\}]*}; }
field version; version=$value
field seed; seed=$value
field injects; injects=$value
field pw; pw=$value
field report_fd; fd=$value
field report_sites; sites=$value

say() { printf '%s\n' "$1" > "/dev/fd/$fd"; }
hello() { say "{\"message\":\"hello\",\"version\":${VERSION:-$version},\"pid\":$$}"; }
site() {
  printf '{"id":"%s","kind":"%s","function":"dot","in_kernel":true,"space":"global","scope":"gpu","ptx_line":%s,' "$1" "$2" "$3"
  printf '"instruction":"%s","source":{"file":"kernel.cu","line":%s},"inlined_at":[]}' "$4" "$5"
}
module() {
  list=null
  if [ "$sites" = true ]; then
    list="[$(site 0 store 10 'st.global.u32 [%rd1], %r1;' 4),$(site 1 fence 12 'membar.gl;' 5),$(site 2 barrier 14 'bar.sync 0;' 6)]"
  fi
  say "{\"message\":\"module\",\"module\":0,\"digest\":\"00\",\"kernels\":[\"dot\"],\"sites\":$list}"
}
# launch END [KERNEL]: one launch of kernel dot, or another, that ends so; its digest depends on seed and p_w.
launch() {
  delayed=0
  if [ "$injects" = true ] && [ "$pw" != 0.0 ] && [ -z "$NOTHING_DELAYED" ]; then delayed=3; fi
  lengths='{"global":{},"shared":{}}'
  if [ $delayed = 3 ]; then lengths='{"global":{"1":1,"2":1},"shared":{}}'; fi
  counts="{\"warp_instructions\":1000,\"thread_instructions\":32000,\"delayed_stores\":$delayed,\"fences\":32,\"barriers\":64"
  counts="$counts,\"shared_stores\":7,\"global_stores\":9,\"flush_lengths\":$lengths,\"buffer_bytes\":4096}"
  say "{\"message\":\"launch\",\"ordinal\":0,\"kernel\":\"${2:-dot}\",\"grid\":[1,1,1],\"block\":[32,1,1],\"end\":$1,\"counts\":$counts,\"digest\":\"d$seed-$pw\"}"
}
complete() { launch '{"end":"complete"}'; }
waiting='{"block":[0,0,0],"thread":[1,0,0],"threads":31,"function":"dot","ptx_line":12,"source":{"file":"kernel.cu","line":5},"instruction":"bar.sync 0;"}'
# fault KIND LINE: what a kernel did there.
fault() {
  at="{\"block\":[0,0,0],\"thread\":[1,0,0],\"threads\":1,\"function\":\"dot\",\"ptx_line\":$2,\"source\":{\"file\":\"kernel.cu\",\"line\":$2},\"instruction\":\"st.u32\"}"
  launch "{\"end\":\"fault\",\"kind\":\"$1\",\"summary\":\"store to 0x10\",\"access\":\"store\",\"at\":$at}"
}
# access LINE KIND SCOPE THREAD: one of a race's accesses.
access() {
  printf '{"kernel":"_Z3dotPi","at":{"block":[%s,0,0],"thread":[0,0,0],"threads":1,"function":"_Z3dotPi","ptx_line":1%s,' "$4" "$1"
  printf '"source":{"file":"kernel.cu","line":%s},"instruction":"%s.global.u32"},"access":"%s","bytes":4,"scope":"%s"}' "$1" "$2" "$2" "$3"
}
# races DETECTOR KIND FIRST SECOND MISSING COUNT: a store at line 4 and a load at line 6, or as said; nothing where nobody looks.
races() {
  memory='{"base":512,"size":64,"offset":8,"freed":false,"variable":"total","allocated_at":[{"function":"main","module":"app","offset":16,"source":{"file":"main.cu","line":40}}]}'
  say "{\"message\":\"races\",\"races\":[{\"detector\":\"$1\",\"kind\":\"$2\",\"class\":\"inter-block\",\"shared\":false,\"address\":520,\"allocation\":$memory,\"first\":$3,\"second\":$4,\"missing\":\"$5\",\"proven\":${PROVEN:-true},\"count\":$6}],\"accesses\":1000,\"bytes\":4096}"
}
looks() { case $orders in *\"race\":\[*\"$1\"*) true ;; *) false ;; esac; }
injected() { [ "$injects" = true ]; }

behaviour=$1
[ "$behaviour" = silent ] || { hello; module; }
case $behaviour in
  pass) complete; echo "sum 42" ;;
  # Fails under injection where the seed is odd: about half the trials.
  odd) complete
    case $seed in *[13579]) if injected; then echo "sum 41"; echo "wrong sum" >&2; exit 1; fi ;; esac
    echo "sum 42" ;;
  # The same, by its output alone.
  prints) complete
    case $seed in *[13579]) if injected && [ "$pw" != 0.0 ]; then echo "sum 41"; exit 0; fi ;; esac
    echo "sum 42" ;;
  # The same, as samples do it: it says so, after a line that is another each time, and its exit code is 0.
  says) complete; echo "seed $seed, 0.$seed ms"; echo "Error rate: 0 FAILED of 5"
    case $seed in *[13579]) if injected && [ "$pw" != 0.0 ]; then echo "Result = FAIL"; exit 0; fi ;; esac
    echo "  Result = PASS " ;;
  # A word of failure is usual in its output, and one more line has it.
  says-more) complete; echo "ERROR tolerance: 3"
    case $seed in *[13579]) if injected && [ "$pw" != 0.0 ]; then echo "ERROR in block '5'"; fi ;; esac ;;
  fails) complete; echo "always wrong"; exit 7 ;;
  # Kernels in another order than their names', one of them launched so many times; or none.
  kernels) launch '{"end":"complete"}' zero; for _ in $(seq "$2"); do complete; done ;;
  idle) ;;
  silent) echo "no CUDA here"; exit "${2:-0}" ;;
  unsupported) injected && say '{"message":"unsupported","what":"tex.2d, PTX line 7"}'; complete ;;
  deadlock) if injected; then launch "{\"end\":\"deadlock\",\"summary\":\"31 threads wait at a barrier\",\"waiting\":[$waiting]}"; exit 1; fi; complete ;;
  budget) if injected; then launch "{\"end\":\"step-budget\",\"summary\":\"31 threads spin\",\"waiting\":[$waiting]}"; exit 1; fi; complete ;;
  fault) if injected; then launch "{\"end\":\"fault\",\"kind\":\"illegal-address\",\"summary\":\"store of 4 bytes to 0x10\",\"access\":\"store\",\"at\":$waiting}"; exit 1; fi; complete ;;
  # Kernels fault and the program does not care: always; under injection one more where the seed is odd; at so many lines.
  faulty) complete; fault illegal-address 5; fault illegal-address 5 ;;
  more-faulty) fault illegal-address 5
    case $seed in *[13579]) injected && fault trap 6 ;; esac; echo "sum 42" ;;
  many-faults) for line in $(seq "$2"); do fault trap "$line"; done ;;
  # Fails where the seed is odd, and always where nothing could be delayed.
  racy) complete; if injected; then case $seed in *[02468]) exit 0 ;; esac; fi; echo "wrong" >&2; exit 1 ;;
  # A race of detector ptx in every trial, told in two messages, and one more where the seed is odd; BARRACUDA infers one. The
  # exit code is the second argument.
  races)
    if looks ptx; then
      races ptx write-read "$(access 4 store weak 0)" "$(access 6 load weak 1)" acquire 2
      races ptx write-read "$(access 4 store weak 2)" "$(access 6 load weak 3)" acquire 1
      case $seed in *[13579]) races ptx write-write "$(access 5 atomic gpu 0)" "$(access 4 store weak 1)" strong 1 ;; esac
    fi
    looks barracuda && PROVEN=false races barracuda read-write "$(access 6 load weak 1)" "$(access 4 store weak 0)" release 7
    complete; echo "sum 42"; exit "${2:-0}" ;;
  # The same, but not again where the file is.
  races-once) complete
    if looks ptx && ! [ -e "$2" ]; then : > "$2"; races ptx write-read "$(access 4 store weak 0)" "$(access 6 load weak 1)" acquire 2; fi ;;
  # A race that a fence after site 0 removes, if its scope is the device's.
  unfenced) complete
    fenced=false
    case $orders in
      *\"narrow_fence\":\[\"*) ;;
      *\"with_fence\":\[\"0\"*) fenced=true ;;
    esac
    if ! $fenced && looks ptx; then races ptx write-read "$(access 4 store weak 0)" "$(access 6 load weak 1)" release 1; fi ;;
  # Detectors look and find nothing, but are short of room.
  no-races) complete; if looks ptx || looks barracuda; then
      say '{"message":"races","races":[],"warnings":[["accesses of a tensor copy were not looked at",3]],"accesses":1234,"bytes":64}'; fi ;;
  aborts) complete; kill -ABRT $$ ;;
  seeds) complete; printf 'always\nseed %s\n' "$seed" ;;
  # The last digits are another's each time, and with injection some sums are wrong.
  rounds) complete; sum=4.2500; if injected && [ "$pw" != 0.0 ]; then case $seed in *[13579]) sum=9.2500 ;; esac; fi
    printf 'took %s ms\nsum %s%s\n' "$seed" "$sum" "$seed" ;;
  two-megabytes) complete; head -c 2000000 /dev/zero; echo "sum 42" ;;
  segfault) injected && kill -SEGV $$; complete ;;
  loop) if injected; then [ -z "$2" ] || echo $$ >> "$2"; while :; do :; done; fi; complete ;;
  # Wrong where the seed is odd, and for ever where it is even.
  odd-or-loop) if injected; then case $seed in *[13579]) complete; exit 1 ;; esac; while :; do :; done; fi; complete ;;
  sleeps) complete; : > "$3"; sleep "$2" ;;
  gigabyte) complete; injected && head -c 1073741824 /dev/zero; echo "sum 42" ;;
  forks) complete; (sleep 100000; echo late) & echo "sum 42" ;;
  # Says in stdin what it finds there.
  asks) complete; tr a-z A-Z ;;
  # Kills itself: in every trial, or only in those that do not find the file.
  killed) if injected; then kill -KILL $$; fi; complete ;;
  killed-once) if injected && ! [ -e "$2.$seed" ]; then : > "$2.$seed"; kill -KILL $$; fi; complete ;;
  # For ever, and says that it is at work; where the seed is odd, it ends.
  works) if injected; then case $seed in *[13579]) ;; *) while :; do say '{"message":"progress"}'; sleep 0.02; done ;; esac; fi; complete ;;
  panics) if injected; then say '{"message":"panicked","what":"in cuLaunchKernel: index out of bounds (pump.rs:7)"}'; exit 1; fi; complete ;;
  file-limit) if injected; then kill -XFSZ $$; fi; complete ;;
  # Ends at odds with itself: passes and fails in turn, whatever the seed.
  fickle) complete; if injected; then if [ -e "$2" ]; then rm "$2"; else : > "$2"; exit 1; fi; fi ;;
  echo) complete; shift; printf '%s\n' "$@" ;;
  *) echo "unknown behaviour $behaviour" >&2; exit 99 ;;
esac
