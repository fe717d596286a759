import type { ForeignPlaces } from "../../agent-state/foreign-places.ts";
import type { Actions } from "../../actions/api.ts";
import type { Asks } from "../../asks/asks.ts";
import type { AgentRoster } from "../../agents/lifecycle/roster.ts";
import { isLaresError, messageOf } from "../../base/errors.ts";
import { plainLine } from "../../base/plain-text.ts";
import { FairTurns } from "../../base/fair-turns.ts";
import type { ConfigurationManager } from "../../configuration/configuration-manager.ts";
import type { TaintedContents } from "../../conversations/tainted-contents.ts";
import type { MindInterception } from "../../base/vocabulary/interception.ts";
import { Conversations } from "../../conversations/conversations.ts";
import { SourceRows } from "../../conversations/source-rows.ts";
import { MessageVectors } from "../../conversations/vectors/message-vectors.ts";
import { vectorFile } from "../../conversations/vectors/vector-file.ts";
import type { Forgetting } from "../../forgetting/forgetting.ts";
import type { Announcer } from "../../interception/announcer.ts";
import type { DiskTimer } from "../../journal/disk-timer.ts";
import { blockQuestion } from "../../minds/block-question.ts";
import type { MadeSchedules } from "../../minds/made-schedules.ts";
import { Minds } from "../../minds/minds.ts";
import type { MindPorts } from "../../minds/ports.ts";
import { repeatQuestion } from "../../minds/repeat-question.ts";
import type { Database } from "../../platform/database/database.ts";
import type { Notifications } from "../../notifications/notifications.ts";
import type { Workspace } from "../../workspace/ports.ts";
import type { KernelContext } from "./kernel-context.ts";
import { MessageEmbedders } from "../../embedders/message-embedders.ts";
import type { KernelModels } from "../../outside/open-models.ts";
import { DecidedActions } from "../../agent-minds/decided-actions.ts";
import { MindCalls } from "../../agent-minds/mind-calls.ts";
import { waitingOf } from "../../agent-minds/waiting-actions.ts";
import { mindModels } from "../../agent-minds/mind-models.ts";
import { mindMemory } from "../../agent-minds/mind-memory.ts";
import { postForEmbedders } from "../../outside/embedder-requests.ts";
import type { Memories } from "./memories.ts";
import type { MindTools } from "../../agent-minds/mind-tools.ts";
import { decideSharedText } from "../../policy/decide.ts";

interface MindParts {
  readonly database: Database;
  readonly forgetting: Forgetting;
  readonly configuration: Pick<ConfigurationManager, "configuration" | "changed">;
  readonly agents: AgentRoster;
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
  readonly workspace: Pick<Workspace, "get" | "missingRoots">;
  readonly stopWork: MindPorts["stopWork"];
}

/** The seq of the first entry of a conversation: its log begins with a record that says whose it is. */
const firstSeq = 2;
/** One log, with its large contents. */
const maxConversationBytes = 256 * 1024 * 1024;

/** Returns why nobody answers for an agent that no document names. */
function noAgent(agent: string, missing: readonly string[]): string {
  const [root] = missing;
  if (root === undefined) return `There is no agent "${agent}" any more.`;
  return `There is no agent "${agent}" now, because the folder ${plainLine(root)} is gone.`;
}

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
    kindOf: (path) => parts.workspace.get({ path }, () => true)?.kind ?? null,
  });
  const decided = new DecidedActions(actions);
  const embedders = opened.use(
    new MessageEmbedders({
      specOf: (agent) => parts.memories.embedderOf(agent),
      authorityOf: (agent) => agents.authorityOf(agent),
      post: (agent) => postForEmbedders(models, agent),
      embedHere: (model, texts) => models.inference.embed(model, texts),
      clock,
    }),
  );
  const vectors = new MessageVectors({
    ...vectorFile(stateFolder, log),
    sources: new SourceRows(database),
    embedderOf: (agent) => embedders.of(agent),
    maxVectors: () => configuration.configuration.limits.maxVectors,
    clock,
    log,
  });
  opened.use(
    configuration.changed.on(() => {
      const withMinds = agents.definitions().filter(({ mind }) => mind !== undefined);
      if (embedders.hasChanged(withMinds.map(({ id }) => id))) vectors.embedderChanged();
    }),
  );
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
        vectors,
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
        mayShare: (agent, namespace, wanted) => {
          const authority = agents.find(agent)?.definition.authority;
          if (authority === undefined) return `There is no agent "${agent}" any more.`;
          const decision = decideSharedText(authority, namespace, wanted);
          if (!decision.allowed) return decision.error.message;
          try {
            parts.memories.keyOf(agent, namespace);
            return null;
          } catch (error) {
            if (isLaresError(error)) return error.message;
            throw error;
          }
        },
        whyNot: (agent) => {
          const definition = agents.find(agent)?.definition;
          if (definition === undefined) return noAgent(agent, parts.workspace.missingRoots());
          if (definition.mind === undefined) return `${agent} has no mind, so nobody can talk to it.`;
          return definition.fault ?? `${agent} is disabled or suspended, so nobody can talk to it.`;
        },
        models: {
          ...mindModels({
            authorityOf: (agent) => agents.find(agent)?.definition.authority ?? null,
            answer: (need, question, asker, signal) => models.runtime.answer(need, question, asker, signal),
            choose: (need) => models.choose(need),
          }),
          isTainting: (model) => models.isScripted(model),
          isOfOtherRun: (model) => models.isOfOtherRun(model),
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
        forgetting: parts.forgetting,
        stopWork: (...stop) => parts.stopWork(...stop),
        actions: {
          get: (id) => actions.get(id),
          waitingOf: (conversation, processes) => waitingOf(actions, conversation, processes),
          decidedOf: (lineage) => decided.of(lineage),
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
        mayRepeat: (place, tool, args, signal, asking) =>
          asks.isAllowed(repeatQuestion(place, tool, args), signal, asking),
      },
    }),
  );
  minds.conversations.appended.on(({ header: { agent, forked_from: forked }, entries, holdsForeign }) => {
    // A mind's own log, named by its agent, is not a conversation.
    if (entries[0]?.conversation === agent) return;
    announcer.entries(agent, entries, holdsForeign, (forked?.seq ?? 0) + firstSeq);
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
  const notMarked = (error: unknown): void =>
    log.error(`Where a change came from was not stored: ${messageOf(error)}`);
  opened.use(
    actions.changed.on((action) => {
      decided.take(action);
      minds.actionChanged(action);
      calls.actionChanged(action).catch(notMarked);
    }),
  );
  calls.recover().catch(notMarked);
  return minds;
}
