;; The guest's own half of the door: what QuickJS asks of its host ("host_*"), and the command's `_start`.
;;
;; `_start` reads the program from stdin, hands it to the runtime (JavaScript, already evaluated in the
;; image), and then turns for ever: run what is ready, then wait for a line or for the next timer.
;; Everything that decides anything is in the runtime; here are only bytes.
(module
  (import "env" "memory" (memory 1))
  (import "env" "qjs_eval" (func $qjs_eval (param i32 i32 i32 i32) (result i32)))
  (import "env" "qjs_new_string" (func $new_string (param i32 i32) (result i32)))
  (import "env" "qjs_new_number" (func $new_number (param f64) (result i32)))
  (import "env" "qjs_new_uint8_array" (func $new_bytes (param i32 i32) (result i32)))
  (import "env" "qjs_get_string_len" (func $get_string (param i32 i32) (result i32)))
  (import "env" "qjs_free_cstring" (func $free_string (param i32)))
  (import "env" "qjs_get_float64" (func $get_number (param i32) (result f64)))
  (import "env" "qjs_call" (func $call (param i32 i32 i32 i32) (result i32)))
  (import "env" "qjs_execute_pending_job" (func $run_job (result i32)))
  (import "env" "qjs_is_exception" (func $is_exception (param i32) (result i32)))
  (import "env" "qjs_get_exception" (func $take_exception (result i32)))
  (import "env" "qjs_free_value" (func $free_value (param i32)))
  (import "env" "qjs_get_undefined" (func $undefined (result i32)))
  (import "env" "strdup" (func $copy_cstring (param i32) (result i32)))
  (import "env" "memchr" (func $find_byte (param i32 i32 i32) (result i32)))
  (import "env" "wasm_malloc" (func $malloc (param i32) (result i32)))
  (import "env" "wasm_free" (func $free (param i32)))
  (import "vectors" "host_vectors" (func $host_vectors (param i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_read" (func $fd_read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll_oneoff (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "clock_time_get" (func $clock_time_get (param i32 i64 i32) (result i32)))
  (import "wasi_snapshot_preview1" "random_get" (func $random_get (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $proc_exit (param i32)))

  ;; Set by the build, kept in the image.
  (global $turn (mut i32) (i32.const 0))      ;; handle of the runtime's function turn(kind, value)
  (global $nothing (mut i32) (i32.const 0))   ;; handle of undefined
  (global $kinds (mut i32) (i32.const 0))     ;; handles of the numbers 0…7, one i32 each
  (global $filename (mut i32) (i32.const 0))  ;; C string: the name the program has in stack traces
  ;; 512 bytes of scratch:  0 iovec | 8 count | 16 length out | 24 clock out | 32 arguments | 64 two subscriptions | 192 two events
  (global $scratch (mut i32) (i32.const 0))

  (func (export "shim_setup") (param $turn i32) (param $nothing i32) (param $kinds i32) (param $filename i32) (param $scratch i32)
    (global.set $turn (local.get $turn))
    (global.set $nothing (local.get $nothing))
    (global.set $kinds (local.get $kinds))
    (global.set $filename (local.get $filename))
    (global.set $scratch (local.get $scratch)))
  (export "shim_turn" (global $turn))
  (export "shim_nothing" (global $nothing))
  (export "shim_kinds" (global $kinds))
  (export "shim_filename" (global $filename))
  (export "shim_scratch" (global $scratch))

  ;; Reads what is there, at most $n bytes; 0 at the end of stdin or on an error.
  (func $read (param $at i32) (param $n i32) (result i32)
    (i32.store (global.get $scratch) (local.get $at))
    (i32.store offset=4 (global.get $scratch) (local.get $n))
    (if (call $fd_read (i32.const 0) (global.get $scratch) (i32.const 1) (i32.add (global.get $scratch) (i32.const 8)))
      (then (return (i32.const 0))))
    (i32.load offset=8 (global.get $scratch)))

  (func $read_exactly (param $at i32) (param $n i32)
    (local $got i32)
    (block $done
      (loop $more
        (br_if $done (i32.eqz (local.get $n)))
        (local.set $got (call $read (local.get $at) (local.get $n)))
        (if (i32.eqz (local.get $got)) (then (call $proc_exit (i32.const 0))))
        (local.set $at (i32.add (local.get $at) (local.get $got)))
        (local.set $n (i32.sub (local.get $n) (local.get $got)))
        (br $more))))

  (func $write (param $fd i32) (param $at i32) (param $n i32)
    (local $wrote i32)
    (block $done
      (loop $more
        (br_if $done (i32.eqz (local.get $n)))
        (i32.store (global.get $scratch) (local.get $at))
        (i32.store offset=4 (global.get $scratch) (local.get $n))
        ;; The kernel closed the pipe: nobody is left to work for.
        (if (call $fd_write (local.get $fd) (global.get $scratch) (i32.const 1) (i32.add (global.get $scratch) (i32.const 8)))
          (then (call $proc_exit (i32.const 0))))
        (local.set $wrote (i32.load offset=8 (global.get $scratch)))
        (local.set $at (i32.add (local.get $at) (local.get $wrote)))
        (local.set $n (i32.sub (local.get $n) (local.get $wrote)))
        (br $more))))

  (func $number (param $argv i32) (param $index i32) (result i32)
    (i32.trunc_sat_f64_s
      (call $get_number (i32.load (i32.add (local.get $argv) (i32.mul (local.get $index) (i32.const 4)))))))

  ;; write(fd, text, limit): writes the text as UTF-8 and answers 0, or writes nothing and answers its size in bytes.
  (func $host_write (param $argv i32) (result i32)
    (local $text i32) (local $size i32) (local $refused i32)
    (local.set $text (call $get_string (i32.load offset=4 (local.get $argv)) (i32.add (global.get $scratch) (i32.const 16))))
    (if (i32.eqz (local.get $text)) (then (return (call $new_number (f64.const -1)))))
    (local.set $size (i32.load offset=16 (global.get $scratch)))
    (if (i32.gt_u (local.get $size) (call $number (local.get $argv) (i32.const 2)))
      (then (local.set $refused (local.get $size)))
      (else (call $write (call $number (local.get $argv) (i32.const 0)) (local.get $text) (local.get $size))))
    (call $free_string (local.get $text))
    (call $new_number (f64.convert_i32_u (local.get $refused))))

  ;; random(n): n random bytes.
  (func $host_random (param $argv i32) (result i32)
    (local $n i32) (local $at i32) (local $result i32)
    (local.set $n (call $number (local.get $argv) (i32.const 0)))
    (local.set $at (call $malloc (local.get $n)))
    (if (i32.or (i32.eqz (local.get $at)) (call $random_get (local.get $at) (local.get $n))) (then (unreachable)))
    (local.set $result (call $new_bytes (local.get $at) (local.get $n)))
    (call $free (local.get $at))
    (local.get $result))

  ;; now(): milliseconds of the monotonic clock.
  (func $host_now (result i32)
    (drop (call $clock_time_get (i32.const 1) (i64.const 1000) (i32.add (global.get $scratch) (i32.const 24))))
    (call $new_number (f64.div (f64.convert_i64_u (i64.load offset=24 (global.get $scratch))) (f64.const 1000000))))

  ;; depth(text): how deep its brackets nest, read as JSON. Native recursion is not bounded by QuickJS's own count.
  (func $host_depth (param $argv i32) (result i32)
    (local $text i32) (local $at i32) (local $end i32) (local $byte i32)
    (local $quoted i32) (local $depth i32) (local $deepest i32)
    (local.set $text (call $get_string (i32.load (local.get $argv)) (i32.add (global.get $scratch) (i32.const 16))))
    (if (i32.eqz (local.get $text)) (then (return (call $new_number (f64.const 0)))))
    (local.set $at (local.get $text))
    (local.set $end (i32.add (local.get $at) (i32.load offset=16 (global.get $scratch))))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $byte (i32.load8_u (local.get $at)))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (if (local.get $quoted)
          (then
            (if (i32.eq (local.get $byte) (i32.const 0x5c)) (then (local.set $at (i32.add (local.get $at) (i32.const 1)))))
            (if (i32.eq (local.get $byte) (i32.const 0x22)) (then (local.set $quoted (i32.const 0))))
            (br $next)))
        (if (i32.eq (local.get $byte) (i32.const 0x22)) (then (local.set $quoted (i32.const 1)) (br $next)))
        ;; "[" and "{" differ in one bit, as do "]" and "}".
        (local.set $byte (i32.and (local.get $byte) (i32.const 0xdf)))
        (if (i32.eq (local.get $byte) (i32.const 0x5b))
          (then
            (local.set $depth (i32.add (local.get $depth) (i32.const 1)))
            (if (i32.gt_s (local.get $depth) (local.get $deepest)) (then (local.set $deepest (local.get $depth))))))
        (if (i32.eq (local.get $byte) (i32.const 0x5d)) (then (local.set $depth (i32.sub (local.get $depth) (i32.const 1)))))
        (br $next)))
    (call $free_string (local.get $text))
    (call $new_number (f64.convert_i32_s (local.get $deepest))))

  ;; The runtime's primitives, told apart by the first letter of their name.
  (func (export "host_call") (param $name i32) (param $length i32) (param $this i32) (param $argc i32) (param $argv i32) (result i32)
    (local $letter i32)
    (local.set $letter (i32.load8_u (local.get $name)))
    (if (i32.eq (local.get $letter) (i32.const 0x77)) (then (return (call $host_write (local.get $argv)))))  ;; w
    (if (i32.eq (local.get $letter) (i32.const 0x72)) (then (return (call $host_random (local.get $argv))))) ;; r
    (if (i32.eq (local.get $letter) (i32.const 0x6e)) (then (return (call $host_now))))                      ;; n
    (if (i32.eq (local.get $letter) (i32.const 0x64)) (then (return (call $host_depth (local.get $argv)))))  ;; d
    (if (i32.eq (local.get $letter) (i32.const 0x76))                                                        ;; v
      (then (return (call $host_vectors (local.get $argc) (local.get $argv) (i32.add (global.get $scratch) (i32.const 16))))))
    (if (i32.eq (local.get $letter) (i32.const 0x65))                                                        ;; e(xit)
      (then (call $proc_exit (call $number (local.get $argv) (i32.const 0)))))
    (call $undefined))

  ;; A guest that computes for too long is ended from outside.
  (func (export "host_interrupt") (result i32) (i32.const 0))
  ;; Both values are ours to free.
  (func (export "host_promise_rejection") (param $promise i32) (param $reason i32) (param $handled i32)
    (drop (call $runtime (select (i32.const 6) (i32.const 5) (local.get $handled)) (local.get $promise) (local.get $reason)))
    (call $free_value (local.get $promise))
    (call $free_value (local.get $reason)))
  ;; Everything was bundled; what is imported at run time does not exist.
  (func (export "host_module_normalize") (param $base i32) (param $name i32) (result i32) (call $copy_cstring (local.get $name)))
  (func (export "host_module_load") (param i32 i32) (result i32) (i32.const 0))
  ;; Time is UTC.
  (func (export "host_get_timezone_offset") (param i32 i32) (result i32) (i32.const 0))

  ;; turn(kind, value, extra) of the runtime; its number, or 0 where it threw (it catches all it can).
  (func $runtime (param $kind i32) (param $value i32) (param $extra i32) (result f64)
    (local $arguments i32) (local $result i32) (local $number f64)
    ;; A turn may start inside another one (a rejection is reported while a line is handled): arguments of its own.
    (local.set $arguments (call $malloc (i32.const 12)))
    (i32.store (local.get $arguments) (i32.load (i32.add (global.get $kinds) (i32.mul (local.get $kind) (i32.const 4)))))
    (i32.store offset=4 (local.get $arguments) (local.get $value))
    (i32.store offset=8 (local.get $arguments) (local.get $extra))
    (local.set $result (call $call (global.get $turn) (global.get $nothing) (i32.const 3) (local.get $arguments)))
    (call $free (local.get $arguments))
    (if (call $is_exception (local.get $result))
      (then (call $free_value (call $take_exception)))
      (else (local.set $number (call $get_number (local.get $result)))))
    (call $free_value (local.get $result))
    (local.get $number))

  (func $report_exception (param $kind i32)
    (local $error i32)
    (local.set $error (call $take_exception))
    (drop (call $runtime (local.get $kind) (local.get $error) (global.get $nothing)))
    (call $free_value (local.get $error)))

  (func $run_jobs
    (local $ran i32)
    (block $done
      (loop $more
        (local.set $ran (call $run_job))
        (br_if $done (i32.eqz (local.get $ran)))
        (if (i32.lt_s (local.get $ran) (i32.const 0)) (then (call $report_exception (i32.const 7))))
        (br $more))))

  ;; The program: its size in bytes (u32, little endian), then its bytes.
  (func $load
    (local $size i32) (local $at i32) (local $result i32)
    (call $read_exactly (i32.add (global.get $scratch) (i32.const 16)) (i32.const 4))
    (local.set $size (i32.load offset=16 (global.get $scratch)))
    (local.set $at (call $malloc (i32.add (local.get $size) (i32.const 1))))
    (if (i32.eqz (local.get $at)) (then (unreachable)))
    (call $read_exactly (local.get $at) (local.get $size))
    (i32.store8 (i32.add (local.get $at) (local.get $size)) (i32.const 0))
    (drop (call $runtime (i32.const 0) (global.get $nothing) (global.get $nothing)))
    (local.set $result (call $qjs_eval (local.get $at) (local.get $size) (global.get $filename) (i32.const 1)))
    (call $free (local.get $at))
    (if (call $is_exception (local.get $result))
      (then (call $report_exception (i32.const 2)))
      (else (drop (call $runtime (i32.const 1) (local.get $result) (global.get $nothing)))))
    (call $free_value (local.get $result))
    (call $run_jobs))

  ;; Waits until stdin can be read or $delay_ms have passed; 1 where it can be read.
  (func $wait (param $delay_ms f64) (result i32)
    (local $in i32) (local $out i32) (local $count i32)
    (local.set $in (i32.add (global.get $scratch) (i32.const 64)))
    (local.set $out (i32.add (global.get $scratch) (i32.const 192)))
    (memory.fill (local.get $in) (i32.const 0) (i32.const 192))
    (i32.store8 offset=8 (local.get $in) (i32.const 1))             ;; fd_read on stdin
    (i64.store offset=48 (local.get $in) (i64.const 1))
    (i32.store offset=64 (local.get $in) (i32.const 1))             ;; the monotonic clock, relative
    ;; At least 1 ns: Wasmer takes 0 for "no timeout" and waits for ever.
    (i64.store offset=72 (local.get $in)
      (i64.trunc_sat_f64_u (f64.max (f64.mul (local.get $delay_ms) (f64.const 1000000)) (f64.const 1))))
    (if (call $poll_oneoff (local.get $in) (local.get $out) (i32.const 2) (i32.add (global.get $scratch) (i32.const 8)))
      (then (return (i32.const 1))))
    (local.set $count (i32.load offset=8 (global.get $scratch)))
    (block $done
      (loop $more
        (br_if $done (i32.eqz (local.get $count)))
        (if (i64.eqz (i64.load (local.get $out))) (then (return (i32.const 1))))
        (local.set $out (i32.add (local.get $out) (i32.const 32)))
        (local.set $count (i32.sub (local.get $count) (i32.const 1)))
        (br $more)))
    (i32.const 0))

  (func (export "_start")
    (local $buffer i32) (local $capacity i32) (local $start i32) (local $scanned i32) (local $end i32)
    (local $newline i32) (local $line i32) (local $delay f64) (local $got i32)
    (call $load)
    ;; A line of 1 MiB, its newline, and room to read ahead.
    (local.set $capacity (i32.const 0x110000))
    (local.set $buffer (call $malloc (local.get $capacity)))
    (if (i32.eqz (local.get $buffer)) (then (unreachable)))
    (local.set $start (local.get $buffer))
    (local.set $scanned (local.get $buffer))
    (local.set $end (local.get $buffer))
    (loop $forever
      ;; One timer that is due, reports; then how long until the next: 0 at once, -1 none.
      (local.set $delay (call $runtime (i32.const 4) (global.get $nothing) (global.get $nothing)))
      (call $run_jobs)
      (local.set $newline
        (call $find_byte (local.get $scanned) (i32.const 10) (i32.sub (local.get $end) (local.get $scanned))))
      (if (local.get $newline)
        (then
          (local.set $line (call $new_string (local.get $start) (i32.sub (local.get $newline) (local.get $start))))
          (local.set $start (i32.add (local.get $newline) (i32.const 1)))
          (local.set $scanned (local.get $start))
          (drop (call $runtime (i32.const 3) (local.get $line) (global.get $nothing)))
          (call $free_value (local.get $line))
          (call $run_jobs)
          (br $forever)))
      (local.set $scanned (local.get $end))
      (if (i32.eq (local.get $start) (local.get $end))
        (then
          (local.set $start (local.get $buffer))
          (local.set $scanned (local.get $buffer))
          (local.set $end (local.get $buffer))))
      (if (f64.ge (local.get $delay) (f64.const 0))
        (then (if (i32.eqz (call $wait (local.get $delay))) (then (br $forever)))))
      (if (i32.gt_u (local.get $end) (i32.add (local.get $buffer) (i32.const 0x100000)))
        (then
          (memory.copy (local.get $buffer) (local.get $start) (i32.sub (local.get $end) (local.get $start)))
          (local.set $end (i32.add (local.get $buffer) (i32.sub (local.get $end) (local.get $start))))
          (local.set $start (local.get $buffer))
          (local.set $scanned (local.get $end))))
      (local.set $got
        (call $read (local.get $end) (i32.sub (i32.add (local.get $buffer) (local.get $capacity)) (local.get $end))))
      ;; The end of stdin, or a line longer than the kernel may send (no room to read it into).
      (if (i32.eqz (local.get $got)) (then (call $proc_exit (i32.const 0))))
      (local.set $end (i32.add (local.get $end) (local.get $got)))
      (br $forever)))
)
