import { commands, Disposable, TabInputText, TabInputTextDiff, window, type Tab } from "vscode";
import type { ClientContext } from "../feature.ts";
import { hasEnded } from "../../../kernel/src/base/vocabulary/action.ts";
import { decidedTitle } from "../model/decided.ts";
import type { Action } from "../protocol.ts";
import { addressOf } from "./addresses.ts";

/** "pending" or "committed", by which the title of an editor offers Approve and Reject, or Undo. */
const stateContext = "lares.shownChange";
/** Set where the shown action has several changes, of which some can be approved. */
const manyContext = "lares.shownHasMany";
/** Before the title of an editor whose action has ended: `Applied 10:58: `; what it shows is frozen then. */
export function endMark(action: Action, effect?: number): string {
  if (!hasEnded(action.state)) return "";
  const isLeftOut = effect !== undefined && action.receipt?.applied.includes(effect) === false;
  return isLeftOut ? "Left out: " : `${decidedTitle(action)}: `;
}

/** Editors of several files that are known by their titles. */
const maxTitles = 50;

export interface ShownTab {
  readonly tab: Tab;
  readonly action: Action;
  /** The only one that is shown; undefined where all are. */
  readonly effect: number | undefined;
}

/** Knows which action the active editor shows, so that a person can answer where they have just read it. */
export class ShownChange implements Disposable {
  readonly #actions: ClientContext["models"]["actions"];
  readonly #listening: Disposable;
  /** An editor of several files says nothing of itself but its title. */
  readonly #titles = new Map<string, string>();

  constructor({ models: { actions } }: Pick<ClientContext, "models">) {
    this.#actions = actions;
    const tell = (): void => this.#tell();
    // Who reads one change of several has not seen the others: they are asked about.
    const answer = (id: string, answered: string, answeredOfPart = answered): Disposable =>
      commands.registerCommand(id, () => {
        const shown = this.#shown();
        if (shown === undefined) return;
        const { action, effect } = shown;
        const isPart = effect !== undefined && action.effects.length > 1;
        void commands.executeCommand(isPart ? answeredOfPart : answered, {
          id: action.id,
          digest: action.digest,
          ...(isPart ? { effects: [effect] } : {}),
        });
      });
    this.#listening = Disposable.from(
      actions.onDidChange(tell),
      window.tabGroups.onDidChangeTabs(tell),
      window.tabGroups.onDidChangeTabGroups(tell),
      answer("lares.approveShown", "lares.approve", "lares.approveSome"),
      answer("lares.approveSomeShown", "lares.approveSome"),
      answer("lares.rejectShown", "lares.reject"),
      answer("lares.undoShown", "lares.undo"),
    );
  }

  /**
   * The title for an editor that is about to show this action: the wished one, with a number where another action's
   * editor has it, for agents choose what their actions are called.
   */
  titleFor(wished: string, action: string): string {
    let title = wished;
    for (let number = 2; (this.#titles.get(title) ?? action) !== action; number++)
      title = `${wished}, no. ${number}`;
    this.#titles.delete(title);
    this.#titles.set(title, action);
    for (const oldest of this.#titles.keys()) {
      if (this.#titles.size <= maxTitles) break;
      this.#titles.delete(oldest);
    }
    return title;
  }

  /** The active editor, where its title does not say yet what became of what it shows. */
  outdated(): ShownTab | undefined {
    const shown = this.#shown();
    return shown === undefined || shown.tab.label.startsWith(endMark(shown.action, shown.effect))
      ? undefined
      : shown;
  }

  dispose(): void {
    this.#listening.dispose();
    for (const key of [manyContext, stateContext]) void commands.executeCommand("setContext", key, undefined);
  }

  #tell(): void {
    const { state, effects = [] } = this.#shown()?.action ?? {};
    const shown = state === "PendingApproval" ? "pending" : state === "Committed" ? "committed" : undefined;
    void commands.executeCommand("setContext", manyContext, effects.length > 1);
    void commands.executeCommand("setContext", stateContext, shown);
  }

  #shown(): ShownTab | undefined {
    const tab = window.tabGroups.activeTabGroup.activeTab;
    const found = tab && this.#found(tab);
    const action = found && this.#actions.get(found.action);
    return tab && action && { tab, action, effect: found.effect };
  }

  #found({ input, label }: Tab): { readonly action: string; readonly effect?: number } | undefined {
    if (input instanceof TabInputTextDiff) return addressOf(input.modified);
    if (input instanceof TabInputText) return addressOf(input.uri);
    const [action, ...others] = [...this.#titles].flatMap(([title, id]) =>
      isTitled(label, title) ? [id] : [],
    );
    // A title that could be of several is of none: what is answered must be what is seen.
    return action !== undefined && others.length === 0 ? { action } : undefined;
  }
}

/** The editor adds the number of files to the title. */
function isTitled(label: string, title: string): boolean {
  return label.startsWith(title) && /^(?: \(\d+[^()]*\))?$/.test(label.slice(title.length));
}
