/** An action, or one of its effects, as a tree shows it. */
export interface ShownAction {
  readonly id: string;
  /** Index of the effect. */
  readonly effect?: number;
  /** Of the action as it is shown: an approval is bound to it. */
  readonly digest: string;
}

/** An agent's job, as a tree shows it. */
export interface ShownJob {
  readonly id: string;
  readonly agent: string;
}

/** What an item of a tree stands for; commands of its menu are given it. */
export interface Subject {
  /** An agent's id. */
  readonly agent?: string;
  readonly tool?: string;
  readonly action?: ShownAction;
  readonly job?: ShownJob;
}

/**
 * An item of a tree, before it is the editor's. All texts are plain already (`model/text.ts`): they come from agents.
 */
export interface TreeNode extends Subject {
  /** Unique in its tree and the same each time, so that the editor keeps what is open and selected. */
  readonly id: string;
  readonly label: string;
  readonly description?: string;
  readonly icon?: { readonly id: string; readonly color?: string };
  /** Path of the workspace; gives the item the icon and the decorations of that file. */
  readonly file?: string;
  /** Paragraphs, shown as text. */
  readonly tooltip?: readonly string[];
  /** What a screen reader says instead of label and description. */
  readonly spoken?: string;
  /** What menus are chosen by. */
  readonly context?: string;
  readonly command?: { readonly id: string; readonly title: string; readonly arguments: readonly unknown[] };
  readonly children?: readonly TreeNode[];
  readonly isOpen?: boolean;
}
