/** Returns the environment of a kernel whose clock begins at this time, in milliseconds since 1970. */
export function clockAt(beginMs: number): NodeJS.ProcessEnv {
  return {
    NODE_OPTIONS: `--import=${new URL("kernel-clock.mjs", import.meta.url).href}`,
    LARES_KERNEL_CLOCK: new Date(beginMs).toISOString(),
  };
}
