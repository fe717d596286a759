/*
 * The micro HNSW of Lares, to be merged into your guest: build/link with -Wl,--export-memory (clang's default for
 * wasm32-wasi) and then
 *
 *   wasm-merge guest.wasm env hnsw-linkable.wasm hnsw -o agent.wasm
 *
 * README.md beside this file says what each function does, and what is refused.
 */
#ifndef LARES_HNSW_H
#define LARES_HNSW_H

#include <stdint.h>

#define HNSW(name) __attribute__((import_module("hnsw"), import_name(#name))) name

enum {
  HNSW_BAD_ARGUMENT = -1, /* out of bounds, or no set at this place */
  HNSW_FULL = -2,
  HNSW_BAD_VECTOR = -3, /* all zeros, or not all numbers finite */
  HNSW_MALFORMED = -4,
};

typedef struct {
  uint32_t label;
  float similarity; /* cosine, -1 to 1 */
} hnsw_match;

uint32_t
HNSW(hnsw_bytes)(uint32_t dimensions, uint32_t slots, uint32_t m);
int32_t
HNSW(hnsw_create)(void *set, uint32_t bytes, uint32_t dimensions, uint32_t slots, uint32_t m, uint32_t ef_construction);
int32_t
HNSW(hnsw_add)(void *set, uint32_t label, const float *vector);
int32_t
HNSW(hnsw_remove)(void *set, uint32_t label);
int32_t
HNSW(hnsw_has)(const void *set, uint32_t label);
int32_t
HNSW(hnsw_search)(void *set, const float *vector, uint32_t k, uint32_t ef);
const hnsw_match *
HNSW(hnsw_results)(const void *set);
float *
HNSW(hnsw_input)(void *set);
int32_t
HNSW(hnsw_size)(const void *set);
int32_t
HNSW(hnsw_capacity)(const void *set);
int32_t
HNSW(hnsw_dimensions)(const void *set);
int32_t
HNSW(hnsw_resize)(const void *set, void *to, uint32_t bytes, uint32_t slots);
int32_t
HNSW(hnsw_saved_bytes)(const void *set);
int32_t
HNSW(hnsw_save)(const void *set, void *to, uint32_t bytes);
int32_t
HNSW(hnsw_load_bytes)(const void *from, uint32_t length, uint32_t slots);
int32_t
HNSW(hnsw_load)(void *set, uint32_t bytes, const void *from, uint32_t length, uint32_t slots);

#endif
