/** The module with its own memory, for programs that instantiate it beside themselves. */
export {
  hnsw_add,
  hnsw_bytes,
  hnsw_capacity,
  hnsw_create,
  hnsw_dimensions,
  hnsw_has,
  hnsw_input,
  hnsw_load,
  hnsw_load_bytes,
  hnsw_remove,
  hnsw_resize,
  hnsw_results,
  hnsw_save,
  hnsw_saved_bytes,
  hnsw_search,
  hnsw_size,
} from "./linkable";

/** Grows the memory by this many bytes, in whole pages. Returns the new pages' address; 0 if the limit is reached. */
export function hnsw_reserve(bytes: u32): usize {
  const before = memory.grow(<i32>((<u64>bytes + 0xffff) >> 16));
  return before < 0 ? 0 : (<usize>before) << 16;
}
