/**
 * The environment variable with the absolute path of a script that answers instead of all models, for one run. The
 * command line sets it for a kernel that it starts (`--rehearse`). No document can.
 */
const rehearsalVariable = "LARES_REHEARSE";
/** Names the run: each begins with all turns of its script. */
const rehearsalRunVariable = "LARES_REHEARSE_RUN";

/** Returns the script that answers instead of all models, with its run; null without one. */
export function rehearsalOf(
  environment: NodeJS.ProcessEnv,
): { readonly script: string; readonly run?: string } | null {
  const { [rehearsalVariable]: script, [rehearsalRunVariable]: run } = environment;
  return script === undefined ? null : { script, ...(run === undefined ? {} : { run }) };
}
