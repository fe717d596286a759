/** How to start `lares`, or why it cannot be started. */
export type Launch =
  | {
      readonly kind: "start";
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
    }
  | { readonly kind: "refused"; readonly reason: string };

export interface LaunchFacts {
  /** The machine's own settings; empty if not set. Those of a workspace are never read. */
  readonly kernelPath: string;
  readonly nodePath: string;
  readonly extensionPath: string;
  /** The path of the checkout if the extension runs from its sources. */
  readonly checkoutPath: string | null;
  readonly platform: NodeJS.Platform;
  /** The process that would start it: VS Code's own, which is Electron on a desktop. */
  readonly own: { readonly executable: string; readonly nodeVersion: string };
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly exists: (path: string) => boolean;
}

const neededNodeMajor = 24;

/** Variables that VS Code sets for its own processes and that a kernel must not inherit. */
const notInherited = /^(ELECTRON_|VSCODE_|NODE_OPTIONS$|NODE_CHANNEL_FD$|NODE_UNIQUE_ID$)/;

/** `words`: the command of `lares` and its arguments. */
export function kernelLaunch(facts: LaunchFacts, words: readonly string[]): Launch {
  const program = programOf(facts);
  if (program.kind === "refused") return program;
  const env = inherited(facts.environment);
  if (!/\.[cm]?js$/.test(program.path)) return { kind: "start", command: program.path, args: words, env };

  const node = nodeOf(facts);
  if (node.kind === "refused") return node;
  return {
    kind: "start",
    command: node.path,
    args: [program.path, ...words],
    env: node.isOwn ? { ...env, ELECTRON_RUN_AS_NODE: "1" } : env,
  };
}

type Found = { readonly kind: "found"; readonly path: string; readonly isOwn: boolean };
type Refused = Extract<Launch, { kind: "refused" }>;

function programOf({ kernelPath, extensionPath, checkoutPath, exists }: LaunchFacts): Found | Refused {
  if (kernelPath !== "") {
    if (!isAbsolute(kernelPath))
      return refused(`The setting lares.kernel.path is "${kernelPath}"; it must be an absolute path.`);
    if (!exists(kernelPath))
      return refused(`The setting lares.kernel.path names "${kernelPath}", and there is no such file.`);
    return found(kernelPath);
  }
  const bundled = `${extensionPath}/kernel/lib/node_modules/lares/bin/lares.js`;
  if (exists(bundled)) return found(bundled);
  const checkout = checkoutPath === null ? null : `${checkoutPath}/kernel/bin/lares.js`;
  if (checkout !== null && exists(checkout)) return found(checkout);
  return refused(
    "This package of the extension has no kernel in it. Install the package for your platform, or name a kernel in the setting lares.kernel.path.",
  );
}

function nodeOf(facts: LaunchFacts): Found | Refused {
  const { nodePath, extensionPath, checkoutPath, platform, own, exists } = facts;
  if (nodePath !== "") {
    if (!isAbsolute(nodePath))
      return refused(`The setting lares.kernel.nodePath is "${nodePath}"; it must be an absolute path.`);
    if (!exists(nodePath))
      return refused(`The setting lares.kernel.nodePath names "${nodePath}", and there is no such file.`);
    return found(nodePath);
  }
  const suffix = platform === "win32" ? ".exe" : "";
  const candidates = [
    `${extensionPath}/kernel/node/bin/node${suffix}`,
    ...(checkoutPath === null ? [] : [`${checkoutPath}/node_modules/node/bin/node${suffix}`]),
  ];
  const path = candidates.find(exists);
  if (path !== undefined) return found(path);
  if (Number.parseInt(own.nodeVersion, 10) >= neededNodeMajor) return found(own.executable, true);
  return refused(
    `The kernel needs Node.js ${neededNodeMajor} or newer, and this editor's own is ${own.nodeVersion}. Name one in the setting lares.kernel.nodePath.`,
  );
}

function inherited(environment: LaunchFacts["environment"]): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment))
    if (value !== undefined && !notInherited.test(name)) env[name] = value;
  return env;
}

function isAbsolute(path: string): boolean {
  return path.startsWith("/") || /^[A-Za-z]:[\\/]/.test(path) || path.startsWith("\\\\");
}

function found(path: string, isOwn = false): Found {
  return { kind: "found", path, isOwn };
}

function refused(reason: string): Refused {
  return { kind: "refused", reason };
}
