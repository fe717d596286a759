import { commands, Disposable, EventEmitter, version, ViewColumn, window, type WebviewPanel } from "vscode";
import type { ClientContext, Feature } from "../feature.ts";
import { label } from "../model/text.ts";
import type { Attached } from "../webviews/conversations/messages.ts";
import { conversationsContract } from "../webviews/conversations/messages.ts";
import { onCommonState } from "../views/common-state.ts";
import { lookAgain } from "../views/look-again.ts";
import { openPage, registerView } from "../views/webview-host.ts";
import { contextCommands } from "./attach-commands.ts";
import { Minds } from "./minds.ts";
import { ConversationsPage } from "./page.ts";

/** As named in package.json among the activation events. */
const conversationPanel = "lares.conversation";
/** The secondary side bar is for the views of extensions from this version on. */
const secondarySidebarSince = [1, 106] as const;

/** Returns the view that this editor shows: in the secondary side bar, or in the container of Lares. */
export function viewFor(editorVersion: string): string {
  const [major = 0, minor = 0] = editorVersion.split(".").map(Number);
  const [sinceMajor, sinceMinor] = secondarySidebarSince;
  const has = major > sinceMajor || (major === sinceMajor && minor >= sinceMinor);
  return has ? "lares.conversations" : "lares.conversationsInLares";
}
const page = { name: "conversations", title: "Lares Conversations" } as const;

/**
 * Conversations with the minds of agents: a view, of which the editor keeps nothing while it is hidden, and editors of
 * their own.
 */
export const conversations: Feature = (context) => {
  const viewId = viewFor(version);
  void commands.executeCommand("setContext", "lares.conversationsInLares", viewId !== "lares.conversations");
  const minds = new Minds(context);
  const panels = new Set<{ readonly panel: WebviewPanel; readonly side: ConversationsPage }>();
  const changed = new EventEmitter<unknown>();
  const openInEditor = (id: string): void => {
    const open = [...panels].find(({ side }) => side.shown === id);
    if (open !== undefined) return open.panel.reveal();
    const panel = window.createWebviewPanel(conversationPanel, "Conversation", ViewColumn.Active, {
      enableFindWidget: true,
    });
    fill(panel).want(id);
  };
  const fill = (panel: WebviewPanel): ConversationsPage => {
    const side = new ConversationsPage(context, minds, {
      openInEditor,
      titled: (title) => {
        panel.title = title === "" ? "Conversation" : label(title, 60);
      },
    });
    const entry = { panel, side };
    panels.add(entry);
    const parts = fillPanel(context, panel, side, changed);
    panel.onDidDispose(() => {
      panels.delete(entry);
      parts.dispose();
    });
    return side;
  };
  const inView = new ConversationsPage(context, minds, { openInEditor });
  const attach = async (attached: readonly Attached[]): Promise<void> => {
    const active = [...panels].find(({ panel }) => panel.visible);
    if (active !== undefined) {
      active.side.want(undefined, attached);
      return active.panel.reveal();
    }
    inView.want(undefined, attached);
    await commands.executeCommand(`${viewId}.focus`);
  };
  return Disposable.from(
    registerView(context, {
      id: viewId,
      ...page,
      contract: conversationsContract,
      answers: inView.answers,
      whileSeen: ({ channel }) => {
        inView.connect(channel);
        return Disposable.from(
          lookAgain([changed.event, context.models.agents.onDidChange], () => channel.push("changed", {})),
          { dispose: () => inView.disconnect() },
        );
      },
    }),
    window.registerWebviewPanelSerializer(conversationPanel, {
      deserializeWebviewPanel: async (panel) => void fill(panel),
    }),
    context.kernel.on("lares/conversations/changed", (conversation) => changed.fire(conversation)),
    context.kernel.on("lares/conversations/deleted", ({ id }) => wasDeleted(id)),
    context.models.asks.onDidChange(() => changed.fire(undefined)),
    context.models.actions.onDidChange(() => changed.fire(undefined)),
    commands.registerCommand("lares.openConversations", () => commands.executeCommand(`${viewId}.focus`)),
    commands.registerCommand("lares.openConversation", (given?: unknown) => openOne(given)),
    commands.registerCommand("lares.newConversation", () => begin()),
    // Not for people: tells every page.
    commands.registerCommand("lares.conversationDeleted", (id: unknown) => {
      if (typeof id === "string") wasDeleted(id);
    }),
    contextCommands(context, attach),
    inView,
    changed,
    {
      dispose: () => {
        for (const { panel } of panels) panel.dispose();
      },
    },
  );

  function wasDeleted(id: string): void {
    for (const side of [inView, ...[...panels].map((one) => one.side)]) side.deleted(id);
    changed.fire(undefined);
  }

  /** Opens a conversation in an editor: the one that is named, or one that the person picks. */
  async function openOne(given: unknown): Promise<void> {
    if (typeof given === "string") return openInEditor(given);
    const { items } = await context.kernel.request("lares/conversations/list", { state: "open", limit: 100 });
    const picked = await window.showQuickPick(
      [
        { label: "$(add) New Conversation", id: undefined },
        ...items.map(({ id, title, agent }) => ({
          id,
          label: title === "" ? "New conversation" : label(title),
          description: label(context.models.agents.nameOf(agent)),
        })),
      ],
      { title: "Open Conversation in Editor" },
    );
    if (picked === undefined) return;
    if (picked.id !== undefined) return openInEditor(picked.id);
    const id = await opened();
    if (id !== undefined) openInEditor(id);
  }

  async function begin(): Promise<void> {
    const id = await opened();
    if (id === undefined) return;
    inView.want(id);
    await commands.executeCommand(`${viewId}.focus`);
  }

  /** Returns the id of a new conversation; undefined if there is no mind, or the person chose none. */
  async function opened(): Promise<string | undefined> {
    const agents = await minds.all();
    if (agents.length === 0) {
      void window.showInformationMessage(
        "No agent here has a mind. Add dev.lares.steward under extensions: in your lares.yaml, and allow it.",
      );
      return undefined;
    }
    const [only] = agents;
    const agent =
      agents.length === 1
        ? only
        : (
            await window.showQuickPick(
              agents.map((id) => ({ id, label: label(context.models.agents.nameOf(id)) })),
              { title: "New Conversation", placeHolder: "With which agent?" },
            )
          )?.id;
    if (agent === undefined) return undefined;
    return (await context.kernel.request("lares/conversations/open", { agent })).id;
  }
};

function fillPanel(
  context: ClientContext,
  panel: WebviewPanel,
  side: ConversationsPage,
  changed: EventEmitter<unknown>,
): Disposable {
  const channel = openPage(panel.webview, context, page, conversationsContract, side.answers);
  side.connect(channel);
  return Disposable.from(
    side,
    channel,
    onCommonState(context, (commonState) => channel.push("commonState", commonState)),
    lookAgain([changed.event], () => {
      if (panel.visible) channel.push("changed", {});
    }),
    panel.onDidChangeViewState(() => {
      // The editor discards the page of a hidden panel, and the next one follows again.
      if (!panel.visible) side.disconnect();
      else side.connect(channel);
    }),
  );
}
