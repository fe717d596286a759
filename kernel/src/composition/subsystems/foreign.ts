import type { ForeignPlaces } from "../../agent-state/foreign-places.ts";
import { compileGlob } from "../../base/glob.ts";
import { bothForeign, foreignFrom, nothingForeign } from "../../base/vocabulary/foreign.ts";
import type { ConfigurationManager } from "../../configuration/configuration-manager.ts";
import type { TaintedContents } from "../../conversations/tainted-contents.ts";
import { canonicalPath } from "../../policy/paths.ts";
import type { Workspace } from "../../workspace/ports.ts";
import type { ForeignPorts } from "../guest/v1/foreign.ts";
import type { AgentLink } from "./agent-link.ts";

interface ForeignParts {
  readonly configuration: Pick<ConfigurationManager, "configuration">;
  readonly workspace: Pick<Workspace, "get">;
  readonly agents: Pick<AgentLink, "find">;
  readonly tainted: TaintedContents;
  readonly places: ForeignPlaces;
}

/** Returns where guests meet texts that nobody vouches for. */
export function openForeign({
  configuration,
  workspace,
  agents,
  tainted,
  places,
}: ForeignParts): ForeignPorts {
  const compiled = { of: null as readonly string[] | null, matches: (_path: string): boolean => false };
  const isUntrusted = (path: string): boolean => {
    const { untrusted } = configuration.configuration.conversations;
    if (compiled.of !== untrusted) {
      const globs = untrusted.map((pattern) => compileGlob(pattern));
      compiled.of = untrusted;
      compiled.matches = (each) => globs.some((glob) => glob.ok && glob.matches(each));
    }
    return compiled.matches(path);
  };
  return {
    places,
    ofAgent: (agent) => agents.find(agent)?.foreign ?? nothingForeign,
    ofFile: async (given) => {
      const canonical = canonicalPath(given);
      const path = canonical.ok ? canonical.path : given;
      const hash = workspace.get({ path }, () => true)?.content_id ?? null;
      const written = await tainted.ofContents(hash === null ? [] : [hash]);
      // A person may let an agent work on such files by itself.
      return bothForeign(foreignFrom(isUntrusted(path) ? [path] : [], "minds"), foreignFrom(written, "all"));
    },
  };
}
