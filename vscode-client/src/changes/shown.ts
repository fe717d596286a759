import { commands, Disposable, TabInputText, TabInputTextDiff, window, type Tab } from "vscode";
import type { ClientContext } from "../feature.ts";
import { hasEnded } from "../../../kernel/src/base/vocabulary/action.ts";
import { decidedTitle } from "../model/decided.ts";
import type { Action } from "../protocol.ts";
import { addressOf } from "./addresses.ts";

/** "pending" or "committed": the title bar of an editor offers Approve and Reject, or Undo, accordingly. */
const stateContext = "lares.shownChange";
/** Set if the shown action has several changes, of which some can be approved. */
const manyContext = "lares.shownHasMany";
/**
 * Returns the prefix `Applied 10:58: ` for the title of an editor whose action has ended; its content is frozen then.
 */
export function endMark(action: Action, effect?: number): string {
  if (!hasEnded(action.state)) return "";
  const isLeftOut = effect !== undefined && action.receipt?.applied.includes(effect) === false;
  return isLeftOut ? "Left out: " : `${decidedTitle(action)}: `;
}

/** The number of multi-file editors that are identified by their titles. */
const maxTitles = 50;

export interface ShownTab {
  readonly tab: Tab;
  readonly action: Action;
  /** The only effect that is shown; undefined if all are. */
  readonly effect: number | undefined;
}

/** The content of a multi-file editor; `effect` is set if it shows only one. */
interface TitledChange {
  readonly action: string;
  readonly effect?: number;
}

/** Knows which action the active editor shows, so that a person can decide where they have just read it. */
export class ShownChange implements Disposable {
  readonly #actions: ClientContext["models"]["actions"];
  readonly #listening: Disposable;
  /** A multi-file editor can only be identified by its title. */
  readonly #titles = new Map<string, TitledChange>();

  constructor({ models: { actions } }: Pick<ClientContext, "models">) {
    this.#actions = actions;
    const tell = (): void => this.#tell();
    // A person who reads one of several changes has not seen the others, so a question names them.
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
   * Returns the title for an editor of this change: the desired one, with a number if the editor of another change has
   * it, because agents choose the titles of their actions.
   */
  titleFor(wished: string, change: TitledChange): string {
    const isFree = (title: string): boolean => {
      const known = this.#titles.get(title);
      return known === undefined || (known.action === change.action && known.effect === change.effect);
    };
    let title = wished;
    for (let number = 2; !isFree(title); number++) title = `${wished}, no. ${number}`;
    this.#titles.delete(title);
    this.#titles.set(title, change);
    for (const oldest of this.#titles.keys()) {
      if (this.#titles.size <= maxTitles) break;
      this.#titles.delete(oldest);
    }
    return title;
  }

  /** Returns the tab that shows several files under this title, in whichever group it is. */
  tabTitled(title: string): Tab | undefined {
    return window.tabGroups.all
      .flatMap(({ tabs }) => tabs)
      .find(({ input, label }) => input === undefined && isTitled(label, title));
  }

  /** Returns the active editor if its title does not show the outcome of its action yet. */
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

  #found({ input, label }: Tab): TitledChange | undefined {
    const shown =
      input instanceof TabInputTextDiff
        ? input.modified
        : input instanceof TabInputText
          ? input.uri
          : undefined;
    if (shown !== undefined) return addressOf(shown);
    const [change, ...others] = [...this.#titles].flatMap(([title, known]) =>
      isTitled(label, title) ? [known] : [],
    );
    // An ambiguous title identifies no change: the decision must be about what is visible.
    return others.length === 0 ? change : undefined;
  }
}

/** The editor adds the number of files to the title. */
function isTitled(label: string, title: string): boolean {
  return label.startsWith(title) && /^(?: \(\d[^()]*\))?$/.test(label.slice(title.length));
}
