import type { ForeignPlaces } from "../../agent-state/foreign-places.ts";
import type { Actions } from "../../actions/api.ts";
import type { Asks } from "../../asks/asks.ts";
import { isLaresError, messageOf } from "../../base/errors.ts";
import { FairTurns } from "../../base/fair-turns.ts";
import { isJsonObject } from "../../base/json.ts";
import { quotedText } from "../../base/visible-text.ts";
import type { ConfigurationManager } from "../../configuration/configuration-manager.ts";
import type { TaintedContents } from "../../conversations/tainted-contents.ts";
import type { MindInterception } from "../../base/vocabulary/interception.ts";
import { Conversations } from "../../conversations/conversations.ts";
import type { Announcer } from "../../interception/announcer.ts";
import type { DiskTimer } from "../../journal/disk-timer.ts";
import type { MadeSchedules } from "../../minds/made-schedules.ts";
import { Minds } from "../../minds/minds.ts";
import type { Database } from "../../platform/database/database.ts";
import type { Notifications } from "../../notifications/notifications.ts";
import type { Workspace } from "../../workspace/ports.ts";
import type { AgentLink } from "./agent-link.ts";
import type { KernelContext } from "./kernel-context.ts";
import { matcherOf } from "./path-matcher.ts";
import type { KernelModels } from "../models/open-models.ts";
import { MindCalls } from "./mind-calls.ts";
import { mindMemory } from "./mind-memory.ts";
import type { Memories } from "./memories.ts";
import type { MindTools } from "./mind-tools.ts";
import { blockQuestion } from "../models/consent.ts";

interface MindParts {
  readonly database: Database;
  readonly configuration: Pick<ConfigurationManager, "configuration">;
  readonly agents: AgentLink;
  readonly models: KernelModels;
  readonly tools: MindTools;
  readonly actions: Actions;
  readonly asks: Asks;
  readonly disk: DiskTimer;
  readonly interception: MindInterception;
  readonly announcer: Announcer;
  readonly notifications: Notifications;
  readonly schedules: MadeSchedules;
  readonly tainted: TaintedContents;
  readonly places: ForeignPlaces;
  readonly memories: Memories;
  readonly workspace: Pick<Workspace, "get">;
}

/** The seq of the first entry of a conversation: its log begins with a record that says whose it is. */
const firstSeq = 2;
/** One log, with its large contents. */
const maxConversationBytes = 256 * 1024 * 1024;

/** Opens the conversations with the minds of agents. None works before `start`. */
export function openMinds(context: KernelContext, parts: MindParts): Minds {
  const { stateFolder, clock, log, opened } = context;
  const { database, configuration, agents, models, tools, actions, asks, disk, interception, announcer } =
    parts;
  const settings = () => configuration.configuration.conversations;
  const calls = new MindCalls({
    tools,
    agents,
    actions,
    asks,
    tainted: parts.tainted,
    contentOf: (path) => parts.workspace.get({ path }, () => true)?.content_id ?? null,
    isUntrusted: matcherOf(() => settings().untrusted),
  });
  const turns = new FairTurns(clock, (run) => void setImmediate(run));
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
      streamed: (conversation, delta) => announcer.delta(conversation, delta),
      unattendedMs: () => settings().unattendedMs,
      limits: () => ({ atOnce: settings().atOnce, processes: settings().processes }),
      ports: {
        clock,
        log,
        takeTurn: (conversation) => turns.take(conversation),
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
          call: (caller, tool, args, options) => calls.call(caller, tool, args, options),
          picture: (caller, path) => calls.picture(caller, path),
        },
        notify: (notice) =>
          void parts.notifications
            .add(notice)
            .catch((error: unknown) => log.error(`A notification was not stored: ${messageOf(error)}`)),
        memory: mindMemory(agents, parts.places, parts.memories, clock),
        intercept: interception,
        schedules: parts.schedules,
        actions: {
          get: (id) => actions.get(id),
          waitingOf: async (agent, conversation, processes) =>
            (await actions.list({ state: "PendingApproval", agent, limit: 1_000 }))
              .filter(({ on_behalf_of: causes = [] }) =>
                causes.some(
                  (actor) =>
                    actor.kind === "process" &&
                    actor.conversation === conversation &&
                    (processes === null || processes.has(actor.id ?? "")),
                ),
              )
              .map(({ id }) => id),
          reject: async (by, id, reason) => {
            try {
              if (by.kind === "person") await actions.reject(by, id, reason);
              else await actions.withdraw(id, reason);
            } catch (error) {
              // It has ended meanwhile.
              if (!isLaresError(error, "IllegalTransition") && !isLaresError(error, "NotFound")) throw error;
            }
          },
        },
        asks: {
          get: (id) => asks.get(id),
          withdraw: (id) => asks.withdraw(id),
          block: (place, edit, key) => asks.ask(blockQuestion(place, edit), { key }),
        },
        mayRepeat: (
          { agent, conversation, process, lineage: { sources = [] } },
          tool,
          args,
          signal,
          asking,
        ) =>
          asks.isAllowed(
            {
              agent,
              conversation,
              process,
              kind: "repeat",
              title: `May ${agent} call ${quotedText(tool)} once more with the same arguments?`,
              reason: `Its ${process} has made the same call twice in a row, and may be going in circles.`,
              sources: [...sources],
              facts: { tool, arguments: isJsonObject(args) ? (args as never) : {} },
              // Untrusted text may have led to it.
              scopes: sources.length > 0 ? ["once"] : ["once", "conversation"],
              about: tool,
              countsFor: "agent",
            },
            signal,
            asking,
          ),
      },
    }),
  );
  minds.conversations.appended.on(({ header: { agent, forked_from: forked }, entries }) => {
    // A mind's own log, named by its agent, is not a conversation.
    if (entries[0]?.conversation === agent) return;
    announcer.entries(agent, entries, (forked?.seq ?? 0) + firstSeq);
  });
  opened.use(asks.changed.on((ask) => minds.askChanged(ask)));
  opened.use(
    parts.schedules.decided.on(({ schedule: { conversation }, isAccepted }) => {
      const text = `The schedule was ${isAccepted ? "accepted" : "not accepted, and is gone"}.`;
      minds
        .use(conversation, (used) => used.tell(text))
        .catch((error: unknown) => log.warn(`The end of a schedule was not announced: ${messageOf(error)}`));
    }),
  );
  opened.use(
    actions.changed.on((action) => {
      minds.actionChanged(action);
      calls
        .actionChanged(action)
        .catch((error: unknown) => log.error(`Where a change came from was not stored: ${messageOf(error)}`));
    }),
  );
  return minds;
}
