import type { VNode } from "preact";
import type { Contract } from "./channel.ts";
import type { Host } from "./host.ts";
import type { commonPushes, commonRequests } from "./common-state.ts";
import { pageLabel } from "./label.ts";

/** The number of paths of one value that can be opened. */
export const maxPaths = 5;
/** The number of members of a value that are searched. */
const maxMembers = 100;
const namesPath = /^(path|paths|from|to|file|files|note|.*_paths?)$/;

/** Returns the workspace paths that data has under keys such as `path`, at most `maxPaths`. */
export function pathsIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [];
  const found = Object.entries(value)
    .slice(0, maxMembers)
    .filter(([name]) => namesPath.test(name))
    .flatMap(([, member]) => (Array.isArray(member) ? (member as unknown[]).slice(0, maxPaths) : [member]))
    .filter((text): text is string => typeof text === "string" && isPath(text));
  return [...new Set(found)].slice(0, maxPaths);
}

/** True for the form in which the kernel writes a file's path: relative, and with an extension. */
function isPath(text: string): boolean {
  return (
    text.length <= 1_024 &&
    /\.[\p{L}\p{N}]{1,12}$/u.test(text) &&
    !/^[/\\~]|:|\\|[\u0000-\u001f]/.test(text) &&
    !text.split("/").some((part) => part === ".." || part === "")
  );
}

interface CommonContract extends Contract {
  readonly requests: typeof commonRequests;
  readonly pushes: typeof commonPushes;
}

interface LinksProps {
  readonly host: Host<CommonContract>;
  readonly value: unknown;
}

/** The files that data names, as links; nothing if it names none. */
export function PathLinks({ host, value }: LinksProps): VNode | null {
  const paths = pathsIn(value);
  if (paths.length === 0) return null;
  return (
    <span class="path-links">
      {paths.map((path) => (
        <button
          key={path}
          type="button"
          class="link"
          // The editor itself shows why it failed.
          onClick={() => void host.ask("openPath", { path }).catch(() => undefined)}
        >
          <bdi>{pageLabel(path, 300)}</bdi>
        </button>
      ))}
    </span>
  );
}
