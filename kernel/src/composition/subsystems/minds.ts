import type { Actions } from "../../actions/api.ts";
import type { Asks } from "../../asks/asks.ts";
import { compileGlob } from "../../base/glob.ts";
import { isLaresError } from "../../base/errors.ts";
import { isJsonObject } from "../../base/json.ts";
import { quotedText } from "../../base/visible-text.ts";
import type { ToolResult } from "../../base/vocabulary/tool-result.ts";
import type { ConfigurationManager } from "../../configuration/configuration-manager.ts";
import { Conversations } from "../../conversations/conversations.ts";
import type { DiskTimer } from "../../journal/disk-timer.ts";
import { Minds } from "../../minds/minds.ts";
import type { CallOutcome } from "../../minds/ports.ts";
import type { Database } from "../../platform/database/database.ts";
import { reachableHosts } from "../../policy/outside.ts";
import type { AgentLink } from "./agent-link.ts";
import type { KernelContext } from "./kernel-context.ts";
import type { KernelModels } from "../models/open-models.ts";
import { mindMemory } from "./mind-memory.ts";
import type { MindTools } from "./mind-tools.ts";

interface MindParts {
  readonly database: Database;
  readonly configuration: Pick<ConfigurationManager, "configuration">;
  readonly agents: AgentLink;
  readonly models: KernelModels;
  readonly tools: MindTools;
  readonly actions: Actions;
  readonly asks: Asks;
  readonly disk: DiskTimer;
}

/** One log, with its large contents. */
const maxConversationBytes = 256 * 1024 * 1024;

/** Opens the conversations with the minds of agents. None works before `start`. */
export function openMinds(context: KernelContext, parts: MindParts): Minds {
  const { stateFolder, clock, log, opened } = context;
  const { database, configuration, agents, models, tools, actions, asks, disk } = parts;
  const settings = () => configuration.configuration.conversations;
  const minds = opened.use(
    new Minds({
      conversations: new Conversations({
        stateFolder,
        database,
        clock,
        log,
        disk,
        maxBytes: () => maxConversationBytes,
        damaged: (_id, error) => log.error(error.message),
      }),
      limits: () => ({ atOnce: settings().atOnce, processes: settings().processes }),
      ports: {
        clock,
        log,
        mindOf: (agent) => {
          const supervisor = agents.find(agent);
          const definition = supervisor?.definition;
          return supervisor?.isListening === true && definition?.mind !== undefined
            ? { agent: definition, definition: definition.mind }
            : null;
        },
        whyNot: (agent) => {
          const definition = agents.find(agent)?.definition;
          if (definition === undefined) return `There is no agent "${agent}" any more.`;
          if (definition.mind === undefined) return `${agent} has no mind, so nobody can talk to it.`;
          return definition.fault ?? `${agent} is disabled or suspended, so nobody can talk to it.`;
        },
        models: {
          answer: (need, question, asker, signal) => models.runtime.answer(need, question, asker, signal),
          choose: (need) => models.choose(need),
          isTainting: (model) => models.isScripted(model),
        },
        tools: {
          list: (_agent, patterns, within) => tools.toolsFor(patterns, within),
          call: async (caller, tool, args, options): Promise<CallOutcome> => {
            const result = await tools.call(tool, args, caller, options);
            return { result, ...provenanceOf(tool, result, agents, settings().untrusted) };
          },
        },
        memory: mindMemory(agents),
        actions: {
          get: (id) => actions.get(id),
          reject: async (by, id, reason) => {
            try {
              await actions.reject(by, id, reason);
            } catch (error) {
              // It has ended meanwhile.
              if (!isLaresError(error, "IllegalTransition") && !isLaresError(error, "NotFound")) throw error;
            }
          },
        },
        mayRepeat: ({ agent, conversation, process }, tool, args, signal) =>
          asks.isAllowed(
            {
              agent,
              conversation,
              process,
              kind: "repeat",
              title: `May ${agent} call ${quotedText(tool)} once more with the same arguments?`,
              reason: `Its ${process} has made the same call twice in a row, and may be going in circles.`,
              sources: [],
              facts: { tool, arguments: isJsonObject(args) ? (args as never) : {} },
              scopes: ["once", "conversation"],
              about: tool,
              countsFor: "agent",
            },
            signal,
          ),
      },
    }),
  );
  opened.use(actions.changed.on((action) => minds.actionChanged(action)));
  return minds;
}

/** Returns where the text of a result comes from, and whether it may be trusted. */
function provenanceOf(
  tool: string,
  result: ToolResult,
  agents: AgentLink,
  untrusted: readonly string[],
): Omit<CallOutcome, "result"> {
  if (!tool.startsWith("files/")) {
    const agent = tool.slice(0, tool.lastIndexOf("/"));
    const authority = agents.authorityOf(agent);
    return authority !== null && reachableHosts(authority).length > 0
      ? { origin: "web", isTainted: true, sources: [`agent:${agent}`] }
      : { origin: `agent:${agent}`, isTainted: false };
  }
  const patterns = untrusted.map((pattern) => compileGlob(pattern));
  const paths = pathsIn(result);
  const bad = paths.filter((path) => patterns.some((glob) => glob.ok && glob.matches(path)));
  return bad.length === 0
    ? { origin: "workspace", isTainted: false }
    : { origin: "workspace", isTainted: true, sources: bad.slice(0, maxSources) };
}

const maxSources = 16;

/** Returns the files whose names or contents a result of a file tool holds. */
function pathsIn(result: ToolResult): string[] {
  const value = result.status === "success" ? result.value : null;
  if (!isJsonObject(value)) return [];
  const { path, files, entries } = value;
  return [
    ...(typeof path === "string" ? [path] : []),
    ...(Array.isArray(files) ? files.filter((file) => typeof file === "string") : []),
    ...(Array.isArray(entries)
      ? entries.flatMap((entry) =>
          isJsonObject(entry) && typeof entry["path"] === "string" ? [entry["path"]] : [],
        )
      : []),
  ];
}
