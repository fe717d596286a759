/** An action, or one of its effects, as shown in a tree. */
interface ShownAction {
  readonly id: string;
  /** Index of the effect. */
  readonly effect?: number;
  /** The digest of the action as shown; an approval is bound to it. */
  readonly digest: string;
}

/** An agent's job, as shown in a tree. */
interface ShownJob {
  readonly id: string;
  readonly agent: string;
}

/** The subject of a tree item, passed to the commands of its menu. */
interface Subject {
  /** An agent's id. */
  readonly agent?: string;
  readonly tool?: string;
  readonly action?: ShownAction;
  readonly job?: ShownJob;
  /** The absolute folder of an installed package. */
  readonly package?: string;
}

/**
 * A tree item, independent of the editor's API. All texts have been made safe (`model/text.ts`), because they come from
 * agents.
 */
export interface TreeNode extends Subject {
  /** Unique in its tree and stable, so that the editor keeps what is expanded and selected. */
  readonly id: string;
  readonly label: string;
  readonly description?: string;
  readonly icon?: { readonly id: string; readonly color?: string };
  /** A workspace path; gives the item the icon and the decorations of that file. */
  readonly file?: string;
  /** Paragraphs, shown as text. */
  readonly tooltip?: readonly string[];
  /** What a screen reader reads instead of label and description. */
  readonly spoken?: string;
  /** Selects the menu entries. */
  readonly context?: string;
  readonly command?: { readonly id: string; readonly title: string; readonly arguments: readonly unknown[] };
  readonly children?: readonly TreeNode[];
  readonly isOpen?: boolean;
}
