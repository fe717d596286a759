import { LaresError, messageOf } from "../base/errors.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { Action } from "../base/vocabulary/action.ts";
import type { Agent } from "../base/vocabulary/agent.ts";
import type { Ask } from "../base/vocabulary/ask.ts";
import type { Conversation } from "../base/vocabulary/conversation.ts";
import { personAt } from "../base/vocabulary/principal.ts";
import type { Endpoint } from "../protocol/v1/endpoint.ts";
import { initializeResult } from "../protocol/v1/capabilities.ts";
import type { ClientRequest } from "../protocol/v1/requests.ts";
import { actionHandlers, withoutDiffs } from "./actions.ts";
import type { Clients } from "../services/clients.ts";
import { agentCommandHandlers } from "./agent-commands.ts";
import { agentHandlers } from "./agents.ts";
import { askHandlers, MessageAsks } from "./asks.ts";
import { MessageApprovals } from "./approvals.ts";
import { chatActions } from "./chat-files/code-actions.ts";
import { chatCommands } from "./chat-files/commands.ts";
import { chatLenses } from "./chat-files/lenses.ts";
import { OpenChats } from "./chat-files/open-chats.ts";
import { conversationHandlers } from "./conversations.ts";
import { decisionHandlers } from "./decisions.ts";
import { DocumentDiagnostics } from "./diagnostics.ts";
import { offerModels, offersModels } from "./editor-models.ts";
import { entryHandlers } from "./entries.ts";
import { openToUntrusted, type Handlers } from "./handlers.ts";
import { jobHandlers } from "./jobs.ts";
import { memoryHandlers } from "./memory.ts";
import { MessageQuestions } from "./message-questions.ts";
import { modelHandlers } from "./models.ts";
import { noticeOf, notificationHandlers } from "./notifications.ts";
import { actionCommands } from "./language/action-commands.ts";
import { agentCommands } from "./language/agent-commands.ts";
import { agentLenses } from "./language/agent-lenses.ts";
import { approvalActions } from "./language/approval-actions.ts";
import { approvalLenses } from "./language/approval-lenses.ts";
import { commandHandlers } from "./language/commands.ts";
import { definitionHandlers } from "./language/definition.ts";
import type { FileMove } from "../base/vocabulary/chat-binding.ts";
import { ChatFiles } from "../services/chat-files/chat-files.ts";
import { FileProposals } from "../services/file-proposals.ts";
import { completionHandlers } from "./language/completion.ts";
import { hoverHandlers } from "./language/hover.ts";
import { inlayHintHandlers } from "./language/inlay-hints.ts";
import { combinedAnswer } from "./language/combined-answer.ts";
import { LensRefresh } from "./language/lens-refresh.ts";
import { ProposedChanges } from "../services/proposed-changes.ts";
import { quickFixes } from "./language/quick-fixes.ts";
import { renameHandlers } from "./language/rename.ts";
import { ShownChanges } from "./language/shown-changes.ts";
import { symbolHandlers } from "./language/symbols.ts";
import { UnsavedWatch } from "./language/unsaved-watch.ts";
import type { AgentNotice, Services } from "../services/ports.ts";
import type { ShownFiles } from "./language/ports.ts";
import { documentUriOf } from "./session/params.ts";
import { type Direction, documentsIn, withPositions } from "./session/position-encoding.ts";
import { ProgramFailures } from "./program-failures.ts";
import { ProgressReporter } from "./progress.ts";
import { clientNameOf } from "./session/params.ts";
import { Session } from "./session/session.ts";
import type { StandardHandlers } from "./session/standard-requests.ts";
import { secretHandlers } from "./secrets.ts";
import { statusHandlers } from "./status.ts";
import { synchronizeDocuments } from "./text-documents.ts";
import { toolHandlers } from "./tools.ts";
import { traceHandlers } from "./traces.ts";
import { trustHandlers } from "./trust.ts";
import { typeHandlers } from "./types.ts";
import { usageHandlers } from "./usage.ts";

interface ServerOptions {
  /** The services that do not depend on a client; a session's requests go through its `Client`. */
  readonly kernel: Services;
  readonly clients: Clients;
  readonly shownFiles: ShownFiles;
  readonly clock: Clock;
  readonly log: Log;
  /** Called with the number of connected clients whenever it changes. */
  readonly clientsChanged: (clients: number) => void;
}

/** Serves language clients: each connection is a session, which may be trusted or not. */
export class KernelServer {
  readonly #kernel: Services;
  readonly #log: Log;
  readonly #options: ServerOptions;
  /** The open sessions, each with its lenses. */
  readonly #sessions = new Map<Session, LensRefresh>();
  readonly #moves: Disposable;
  readonly #endpoints = new Set<Endpoint>();
  readonly #proposed: ProposedChanges;
  readonly #proposals: FileProposals;
  readonly #chatFiles: ChatFiles;
  /** The chat files of the open sessions. */
  readonly #chats = new WeakMap<Session, OpenChats>();
  readonly #shown: ShownChanges;
  readonly #handlers: Handlers;
  /** Language features; available even if the workspace is not trusted. */
  readonly #languageHandlers: StandardHandlers;
  /** LSP requests that change what agents do; for trusted connections only. */
  readonly #standardHandlers: StandardHandlers;

  constructor(options: ServerOptions) {
    const { kernel } = options;
    this.#kernel = kernel;
    this.#log = options.log;
    this.#options = options;
    this.#proposed = new ProposedChanges(kernel.actions);
    this.#shown = new ShownChanges(kernel.actions, options.shownFiles);
    this.#proposals = new FileProposals({
      actions: kernel.actions,
      files: kernel.files,
      proposed: this.#proposed,
      unsaved: kernel.unsaved,
    });
    this.#chatFiles = new ChatFiles({ ...kernel, bindings: kernel.chatBindings });
    this.#moves = kernel.filesMoved.on((moves) => void this.#filesMoved(moves));
    this.#handlers = {
      ...statusHandlers,
      ...trustHandlers,
      ...agentHandlers,
      ...traceHandlers,
      ...actionHandlers,
      ...askHandlers,
      ...decisionHandlers,
      ...toolHandlers,
      ...jobHandlers,
      ...notificationHandlers,
      ...typeHandlers,
      ...entryHandlers,
      ...memoryHandlers,
      ...modelHandlers,
      ...usageHandlers,
      ...secretHandlers,
      ...conversationHandlers,
      ...agentCommandHandlers,
    };
    this.#languageHandlers = {
      ...completionHandlers(kernel),
      ...hoverHandlers(kernel),
      ...inlayHintHandlers(kernel),
      ...symbolHandlers(kernel.navigation),
      ...definitionHandlers(kernel.navigation),
      ...renameHandlers(kernel.navigation),
      "textDocument/codeLens": combinedAnswer(
        options.log,
        (params, session) => approvalLenses(this.#proposals, this.#shown, params, session),
        (params, session) => agentLenses(kernel.navigation, kernel.agents, params, session),
        (params, session) => chatLenses(this.#chats.get(session), params, session),
      ),
      "textDocument/codeAction": combinedAnswer(
        options.log,
        (params, session) => quickFixes(kernel.navigation, params, session),
        (params, session) => approvalActions(this.#proposals, this.#shown, params, session),
        (params, session) => chatActions(this.#chats.get(session), params, session),
      ),
    };
    this.#standardHandlers = commandHandlers({
      ...agentCommands,
      ...actionCommands(this.#shown),
      ...chatCommands((session) => this.#chats.get(session)),
    });
  }

  /** Adds a connection. Refuses every request before `initialize`. */
  accept(endpoint: Endpoint): void {
    let session: Session | null = null;
    this.#endpoints.add(endpoint);
    this.#options.clientsChanged(this.#endpoints.size);

    endpoint.beforeRequest((method) => {
      if (method === "initialize" || method === "shutdown") return;
      if (session === null)
        throw new LaresError("Busy", `"${method}" was sent before "initialize". Send "initialize" first.`);
      const isOpen = openToUntrusted.has(method) || Object.hasOwn(this.#languageHandlers, method);
      if (!session.trusted && !isOpen) {
        throw new LaresError(
          "Untrusted",
          "This workspace is not trusted. A person can accept it with lares/trust; lares/status shows what its documents request.",
        );
      }
    });
    endpoint.onStandardRequest("initialize", async (params) => {
      if (session !== null)
        throw new LaresError(
          "InvalidParams",
          '"initialize" was sent twice. Send it once for each connection.',
        );
      const begun = new Session(
        endpoint,
        this.#options.clients.connect(personAt(clientNameOf(params))),
        params,
      );
      session = begun;
      await this.#begin(begun);
      return initializeResult(this.#kernel.version, params);
    });
    endpoint.onStandardRequest("shutdown", () => null);
    for (const [method, handler] of Object.entries(this.#handlers)) {
      endpoint.onRequest(method as ClientRequest, (params, signal) => {
        if (session === null)
          throw new LaresError("Busy", 'The session is not open. Send "initialize" first.');
        return (handler as (params: unknown, session: Session, signal: AbortSignal) => Promise<never>)(
          params,
          session,
          signal,
        );
      });
    }
    for (const [method, handler] of Object.entries({
      ...this.#languageHandlers,
      ...this.#standardHandlers,
    })) {
      endpoint.onStandardRequest(method, (params, signal) => {
        if (session === null)
          throw new LaresError("Busy", 'The session is not open. Send "initialize" first.');
        return inClientPositions(handler, this.#kernel.documents, { params, session, signal });
      });
    }
    endpoint.closed.then(
      () => {
        this.#endpoints.delete(endpoint);
        if (session !== null) this.#end(session);
        this.#options.clientsChanged(this.#endpoints.size);
      },
      (error: unknown) => this.#log.error(`waiting for the end of a connection failed: ${messageOf(error)}`),
    );
    endpoint.listen();
  }

  /** Ends all connections; their fronts join the next kernel. */
  close(): void {
    this.#moves[Symbol.dispose]();
    this.#proposed[Symbol.dispose]();
    for (const endpoint of this.#endpoints) endpoint.end();
  }

  async #begin(session: Session): Promise<void> {
    await session.client.begin(session.options.trusted);
    // The client disconnected meanwhile.
    if (!this.#endpoints.has(session.endpoint)) return;
    const lenses = new LensRefresh(session, this.#log);
    this.#connectFeatures(session, lenses);
    this.#sessions.set(session, lenses);
  }

  #connectFeatures(session: Session, lenses: LensRefresh): void {
    const { endpoint } = session;
    const questions = new MessageQuestions(session, this.#log);
    const approvals = new MessageApprovals(this.#kernel, this.#shown, session, questions);
    const asks = new MessageAsks(this.#kernel.asks, session, questions);
    // Asks about everything that waits, if the client wants messages; withdraws the question if trust is gone.
    const askAgain = (): void => {
      if (!session.trusted) return questions.withdrawCurrent();
      if (!questions.isWanted) return;
      Promise.all([approvals.considerAll(), asks.considerAll()]).catch((error: unknown) =>
        this.#log.error(`what waits for the person could not be read: ${messageOf(error)}`),
      );
    };
    endpoint.onNotification("initialized", () => {
      questions.initialized();
      askAgain();
    });
    const diagnostics = new DocumentDiagnostics(this.#kernel, session, this.#log);
    const progress = new ProgressReporter(session, this.#kernel.jobs, this.#log);
    endpoint.onNotification("window/workDoneProgress/cancel", (params) => {
      if (session.trusted) progress.cancel(params);
    });
    const unsaved = new UnsavedWatch(
      session.documents,
      (uri) => this.#proposals.isAwaited(uri),
      () => this.#lensesChanged(),
    );
    const chats = new OpenChats({
      session,
      files: this.#chatFiles,
      clock: this.#options.clock,
      log: this.#log,
      lensesChanged: () => lenses.lensesChanged(),
    });
    this.#chats.set(session, chats);
    const failures = new ProgramFailures(this.#kernel.agents, session, (uri) =>
      this.#kernel.documents.handles(uri),
    );
    synchronizeDocuments(
      endpoint,
      session.documents,
      diagnostics,
      (uri) => this.#kernel.documents.textOnDisk(uri),
      (uri, how) => {
        chats.documentChanged(uri);
        failures.textChanged(uri, how);
        void unsaved.textChanged(uri);
      },
    );
    const whenTrusted =
      <Event>(tell: (event: Event) => void) =>
      (event: Event) => {
        if (session.trusted) tell(event);
      };
    const notifyOfAgent = (agent: Agent): void => {
      endpoint.notify("lares/agents/changed", agent);
      lenses.lensesChanged();
      failures.agentChanged(agent);
    };
    session.listening.push(
      diagnostics,
      chats,
      this.#kernel.unsaved.add({
        compared: () => session.documents.compared((uri) => this.#kernel.documents.textOnDisk(uri)),
        unsaved: () => session.documents.unsaved(),
      }),
      ...(offersModels(session) ? [offerModels(session, this.#kernel.editorModels)] : []),
      session.client.trustChanged.on(() => {
        this.#lensesChanged();
        chats.trustChanged();
        askAgain();
      }),
      this.#kernel.agents.changed.on(notifyOfAgent),
      this.#kernel.agents.counted.on(whenTrusted(notifyOfAgent)),
      this.#kernel.jobs.changed.on(
        whenTrusted((agent: string) => endpoint.notify("lares/jobs/changed", { agent })),
      ),
      this.#kernel.actions.changed.on(
        whenTrusted((action: Action) => {
          endpoint.notify("lares/actions/changed", withoutDiffs(action));
          approvals.consider(action);
          lenses.lensesChanged();
        }),
      ),
      this.#kernel.asks.changed.on(
        whenTrusted((ask: Ask) => {
          endpoint.notify("lares/asks/changed", ask);
          asks.consider(ask);
        }),
      ),
      this.#kernel.conversations.changed.on(
        whenTrusted((conversation: Conversation) => {
          endpoint.notify("lares/conversations/changed", conversation);
          chats.conversationChanged(conversation);
        }),
      ),
      this.#kernel.conversations.deleted.on(
        whenTrusted((id: string) => endpoint.notify("lares/conversations/deleted", { id })),
      ),
      this.#kernel.decisions.changed.on(whenTrusted(() => endpoint.notify("lares/decisions/changed", {}))),
      this.#kernel.notifications.told.on(
        whenTrusted((notice: AgentNotice) => {
          const shown = noticeOf(notice, session.options.notifications);
          if (shown !== null) endpoint.notify("lares/notify", shown);
        }),
      ),
      this.#kernel.progress.on(whenTrusted((event) => progress.report(event))),
    );
  }

  async #filesMoved(moves: readonly FileMove[]): Promise<void> {
    try {
      const paths = await this.#chatFiles.moved(moves);
      if (paths.length > 0)
        for (const session of this.#sessions.keys()) this.#chats.get(session)?.moved(paths);
    } catch (error) {
      this.#log.error(`A moved file lost its conversation: ${messageOf(error)}`);
    }
  }

  #end(session: Session): void {
    this.#sessions.delete(session);
    // Its unsaved changes no longer block proposals, which the lenses of other clients show.
    if (session.documents.unsaved().length > 0) this.#lensesChanged();
    for (const each of [...session.listening.splice(0), ...session.subscriptions.values()])
      each[Symbol.dispose]();
    session.subscriptions.clear();
    session.client[Symbol.dispose]();
  }

  #lensesChanged(): void {
    for (const lenses of this.#sessions.values()) lenses.lensesChanged();
  }
}

/** Runs an LSP handler, which counts in UTF-16, for a client with any position encoding. */
async function inClientPositions(
  handler: StandardHandlers[string],
  files: Services["documents"],
  { params, session, signal }: { params: unknown; session: Session; signal: AbortSignal },
): Promise<unknown> {
  const { positionEncoding: encoding, documents } = session;
  if (encoding === "utf-16") return handler(params, session, signal);
  const uri = documentUriOf(params);
  const texts = new Map<string, string | null>();
  const converted = async (message: unknown, direction: Direction): Promise<unknown> => {
    for (const each of documentsIn(message, uri))
      if (!texts.has(each)) texts.set(each, documents.text(each) ?? (await files.textOnDisk(each)));
    return withPositions(message, uri, encoding, direction, (each) => texts.get(each) ?? null);
  };
  const asked = await converted(params, "from-client");
  return converted(await handler(asked, session, signal), "to-client");
}
