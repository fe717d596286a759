;; What the runtime has as `native.vectors(operation, block, other, a, b, c, d)`: the micro HNSW on ArrayBuffers, whose
;; bytes lie in this memory. The numbers of the operations are the SDK's (extensions/sdk/src/vectors/engine.ts).
(module
  (import "env" "qjs_get_array_buffer" (func $get_buffer (param i32 i32) (result i32)))
  (import "env" "qjs_get_float64" (func $get_number (param i32) (result f64)))
  (import "env" "qjs_new_number" (func $new_number (param f64) (result i32)))
  (import "env" "qjs_get_exception" (func $take_exception (result i32)))
  (import "env" "qjs_free_value" (func $free_value (param i32)))
  (import "env" "memory" (memory 1))
  (import "hnsw" "hnsw_bytes" (func $bytes (param i32 i32 i32) (result i32)))
  (import "hnsw" "hnsw_create" (func $create (param i32 i32 i32 i32 i32 i32) (result i32)))
  (import "hnsw" "hnsw_add" (func $add (param i32 i32 i32) (result i32)))
  (import "hnsw" "hnsw_remove" (func $remove (param i32 i32) (result i32)))
  (import "hnsw" "hnsw_has" (func $has (param i32 i32) (result i32)))
  (import "hnsw" "hnsw_search" (func $search (param i32 i32 i32 i32) (result i32)))
  (import "hnsw" "hnsw_size" (func $size (param i32) (result i32)))
  (import "hnsw" "hnsw_capacity" (func $capacity (param i32) (result i32)))
  (import "hnsw" "hnsw_dimensions" (func $dimensions (param i32) (result i32)))
  (import "hnsw" "hnsw_input" (func $input (param i32) (result i32)))
  (import "hnsw" "hnsw_results" (func $results (param i32) (result i32)))
  (import "hnsw" "hnsw_resize" (func $resize (param i32 i32 i32 i32) (result i32)))
  (import "hnsw" "hnsw_saved_bytes" (func $saved_bytes (param i32) (result i32)))
  (import "hnsw" "hnsw_save" (func $save (param i32 i32 i32) (result i32)))
  (import "hnsw" "hnsw_load_bytes" (func $load_bytes (param i32 i32 i32) (result i32)))
  (import "hnsw" "hnsw_load" (func $load (param i32 i32 i32 i32 i32) (result i32)))

  (func $argument (param $argv i32) (param $index i32) (result i32)
    (i32.load (i32.add (local.get $argv) (i32.shl (local.get $index) (i32.const 2)))))

  ;; Unsigned: a label may be any u32.
  (func $number (param $argv i32) (param $index i32) (result i32)
    (i32.trunc_sat_f64_u (call $get_number (call $argument (local.get $argv) (local.get $index)))))

  ;; Where the ArrayBuffer's bytes lie, their number at $length; 0 for what is none, or has none.
  (func $buffer (param $argv i32) (param $index i32) (param $length i32) (result i32)
    (local $at i32)
    (i32.store (local.get $length) (i32.const 0))
    (local.set $at (call $get_buffer (call $argument (local.get $argv) (local.get $index)) (local.get $length)))
    (if (i32.eqz (local.get $at)) (then (call $free_value (call $take_exception))))
    (select (local.get $at) (i32.const 0) (i32.load (local.get $length))))

  ;; $scratch: eight bytes.
  (func $perform (param $argv i32) (param $scratch i32) (result i32)
    (local $block i32) (local $size i32) (local $other i32) (local $otherSize i32)
    (local $operation i32) (local $a i32) (local $b i32) (local $c i32)
    (local.set $operation (call $number (local.get $argv) (i32.const 0)))
    (local.set $a (call $number (local.get $argv) (i32.const 3)))
    (local.set $b (call $number (local.get $argv) (i32.const 4)))
    (local.set $c (call $number (local.get $argv) (i32.const 5)))
    (if (i32.eqz (local.get $operation))
      (then (return (call $bytes (local.get $a) (local.get $b) (local.get $c)))))
    ;; From 12 on there is a second block.
    (if (i32.ge_u (local.get $operation) (i32.const 12))
      (then
        (local.set $other (call $buffer (local.get $argv) (i32.const 2) (local.get $scratch)))
        (local.set $otherSize (i32.load (local.get $scratch)))
        (if (i32.eqz (local.get $other)) (then (return (i32.const -1))))
        (if (i32.eq (local.get $operation) (i32.const 12))
          (then (return (call $load_bytes (local.get $other) (local.get $otherSize) (local.get $a)))))))
    (local.set $block (call $buffer (local.get $argv) (i32.const 1) (local.get $scratch)))
    (local.set $size (i32.load (local.get $scratch)))
    ;; Shorter than a header it holds no set.
    (if (i32.lt_u (local.get $size) (i32.const 128)) (then (return (i32.const -1))))
    (block $none
      (block $load (block $save (block $resize
      (block $saved_bytes (block $results (block $input (block $dimensions (block $capacity (block $size_of
      (block $search (block $has (block $remove (block $add (block $create
        (br_table $none $create $add $remove $has $search $size_of $capacity $dimensions $input $results $saved_bytes
          $none $resize $save $load $none (local.get $operation)))
      ;; create
      (return (call $create (local.get $block) (local.get $size) (local.get $a) (local.get $b) (local.get $c)
        (call $number (local.get $argv) (i32.const 6)))))
      ;; add
      (return (call $add (local.get $block) (local.get $a) (call $input (local.get $block)))))
      ;; remove
      (return (call $remove (local.get $block) (local.get $a))))
      ;; has
      (return (call $has (local.get $block) (local.get $a))))
      ;; search
      (return (call $search (local.get $block) (call $input (local.get $block)) (local.get $a) (local.get $b))))
      ;; size
      (return (call $size (local.get $block))))
      (return (call $capacity (local.get $block))))
      (return (call $dimensions (local.get $block))))
      ;; input and results, counted from the block's beginning
      (return (i32.sub (call $input (local.get $block)) (local.get $block))))
      (return (i32.sub (call $results (local.get $block)) (local.get $block))))
      (return (call $saved_bytes (local.get $block))))
      ;; resize into the other
      (return (call $resize (local.get $block) (local.get $other) (local.get $otherSize) (local.get $a))))
      ;; save into the other
      (return (call $save (local.get $block) (local.get $other) (local.get $otherSize))))
      ;; load from the other
      (return (call $load (local.get $block) (local.get $size) (local.get $other) (local.get $otherSize)
        (local.get $a))))
    (i32.const -1))

  (func (export "host_vectors") (param $argc i32) (param $argv i32) (param $scratch i32) (result i32)
    (if (i32.ne (local.get $argc) (i32.const 7)) (then (return (call $new_number (f64.const -1)))))
    (call $new_number (f64.convert_i32_s (call $perform (local.get $argv) (local.get $scratch)))))
)
