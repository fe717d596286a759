/**
 * WASI preview 1 as the guest ABI admits it: which functions reach the runtime, which return an errno without
 * leaving the module, and their signatures. A name that is missing here does not exist in preview 1.
 */
export const wasiModule = "wasi_snapshot_preview1";

/** Errno values of preview 1. */
export const errno = { badFileDescriptor: 8, notCapable: 76 } as const;

/** The highest file descriptor of a guest: stdin, stdout, stderr. */
export const lastDescriptor = 2;

/** Parameters: "i" = i32 and "I" = i64. Every function except `proc_exit` returns an i32 errno. */
const signatures: Readonly<Record<string, string>> = {
  args_get: "ii",
  args_sizes_get: "ii",
  clock_res_get: "ii",
  clock_time_get: "iIi",
  environ_get: "ii",
  environ_sizes_get: "ii",
  fd_advise: "iIIi",
  fd_allocate: "iII",
  fd_close: "i",
  fd_datasync: "i",
  fd_fdstat_get: "ii",
  fd_fdstat_set_flags: "ii",
  fd_fdstat_set_rights: "iII",
  fd_filestat_get: "ii",
  fd_filestat_set_size: "iI",
  fd_filestat_set_times: "iIIi",
  fd_pread: "iiiIi",
  fd_prestat_dir_name: "iii",
  fd_prestat_get: "ii",
  fd_pwrite: "iiiIi",
  fd_read: "iiii",
  fd_readdir: "iiiIi",
  fd_renumber: "ii",
  fd_seek: "iIii",
  fd_sync: "i",
  fd_tell: "ii",
  fd_write: "iiii",
  path_create_directory: "iii",
  path_filestat_get: "iiiii",
  path_filestat_set_times: "iiiiIIi",
  path_link: "iiiiiii",
  path_open: "iiiiiIIii",
  path_readlink: "iiiiii",
  path_remove_directory: "iii",
  path_rename: "iiiiii",
  path_symlink: "iiiii",
  path_unlink_file: "iii",
  poll_oneoff: "iiii",
  proc_exit: "i",
  proc_raise: "i",
  random_get: "ii",
  sched_yield: "",
  sock_accept: "iii",
  sock_recv: "iiiiii",
  sock_send: "iiiii",
  sock_shutdown: "ii",
};

const allowed = new Set([
  "args_get",
  "args_sizes_get",
  "clock_time_get",
  "environ_get",
  "environ_sizes_get",
  "fd_close",
  "fd_fdstat_get",
  "fd_read",
  "fd_seek",
  "fd_write",
  "poll_oneoff",
  "proc_exit",
  "random_get",
  "sched_yield",
]);

/** Allowed functions whose first parameter is a descriptor that must be 0, 1 or 2. */
const takesDescriptor = new Set(["fd_close", "fd_fdstat_get", "fd_read", "fd_seek", "fd_write"]);

/** C libraries iterate over the preopened folders until this errno. */
const walksPreopens = new Set(["fd_prestat_get", "fd_prestat_dir_name"]);

/** Every function that a prepared module may import, with its signature in the form of `signatureText`. */
export const importable: ReadonlyMap<string, string> = new Map(
  [...allowed].map((name) => [name, `${signatures[name]}:${name === "proc_exit" ? "" : "i"}`]),
);

type Preview1Treatment =
  | { readonly kind: "unknown" }
  | { readonly kind: "kept"; readonly signature: string }
  | { readonly kind: "guarded"; readonly signature: string }
  | { readonly kind: "refusing"; readonly signature: string; readonly errno: number };

/** Returns how an import with this name is treated. `signature` has the form of `signatureText`. */
export function treatmentOf(name: string): Preview1Treatment {
  const parameters = Object.hasOwn(signatures, name) ? signatures[name] : undefined;
  if (parameters === undefined) return { kind: "unknown" };
  const signature = `${parameters}:${name === "proc_exit" ? "" : "i"}`;
  if (takesDescriptor.has(name)) return { kind: "guarded", signature };
  if (allowed.has(name)) return { kind: "kept", signature };
  const answer = walksPreopens.has(name) ? errno.badFileDescriptor : errno.notCapable;
  return { kind: "refusing", signature, errno: answer };
}

/** Returns a signature in readable form: "iIi:i" becomes "(i32, i64, i32) -> i32". */
export function signatureText(signature: string): string {
  const names: Readonly<Record<string, string>> = { i: "i32", I: "i64", f: "f32", F: "f64", v: "v128" };
  const [parameters = "", results = ""] = signature.split(":");
  const list = (letters: string): string =>
    Array.from(letters, (letter) => names[letter] ?? "ref").join(", ");
  return `(${list(parameters)}) -> ${results === "" ? "nothing" : list(results)}`;
}
