/** Terminals that show OSC 9 as a notification of the operating system, by TERM_PROGRAM. */
const programs = new Set(["iTerm.app", "WezTerm", "ghostty"]);

/** Returns true if standard output is a terminal that can show notifications of the operating system. */
export function hasSystemNotifications({
  stdout,
  env,
}: {
  readonly stdout: { readonly isTTY?: boolean };
  readonly env: Readonly<Record<string, string | undefined>>;
}): boolean {
  // A multiplexer in between does not pass the code on.
  if (stdout.isTTY !== true || env["TMUX"] !== undefined || env["STY"] !== undefined) return false;
  return programs.has(env["TERM_PROGRAM"] ?? "") || env["TERM"] === "xterm-kitty";
}
