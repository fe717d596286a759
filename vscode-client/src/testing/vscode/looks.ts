import { draw } from "./drawn.ts";
import { Range, TreeItemCollapsibleState, Uri } from "./values.ts";

export class ThemeColor {
  readonly id: string;
  constructor(id: string) {
    this.id = id;
  }
}

export class ThemeIcon {
  static readonly File = new ThemeIcon("file");
  static readonly Folder = new ThemeIcon("folder");
  readonly id: string;
  readonly color: ThemeColor | undefined;
  constructor(id: string, color?: ThemeColor) {
    this.id = id;
    this.color = color;
  }
}

export class MarkdownString {
  value: string;
  isTrusted = false;
  supportHtml = false;
  supportThemeIcons: boolean;
  constructor(value = "", supportThemeIcons = false) {
    this.value = value;
    this.supportThemeIcons = supportThemeIcons;
    draw("markdown", value);
  }
  appendMarkdown(markdown: string): this {
    draw("markdown", markdown);
    this.value += markdown;
    return this;
  }
  /** As the editor escapes what is not to be read as Markdown. */
  appendText(text: string): this {
    this.value += text
      .replaceAll(/[\\`*_{}[\]()#+\-!~<>|]/g, String.raw`\$&`)
      .replaceAll("&", "&amp;")
      .replaceAll(/[ \t]/g, "&nbsp;")
      .replaceAll("\n", "\n\n");
    return this;
  }
}

export class FileDecoration {
  readonly badge: string | undefined;
  readonly tooltip: string | undefined;
  readonly color: ThemeColor | undefined;
  propagate = false;
  constructor(badge?: string, tooltip?: string, color?: ThemeColor) {
    draw("decoration", badge, tooltip);
    this.badge = badge;
    this.tooltip = tooltip;
    this.color = color;
  }
}

export class TreeItem {
  label: string;
  collapsibleState: number;
  id?: string;
  description?: string;
  tooltip?: unknown;
  iconPath?: unknown;
  resourceUri?: Uri;
  contextValue?: string;
  command?: unknown;
  accessibilityInformation?: { label: string };
  constructor(label: string, collapsibleState: number = TreeItemCollapsibleState.None) {
    draw("tree", label);
    this.label = label;
    this.collapsibleState = collapsibleState;
  }
}

export class CodeLens {
  readonly range: Range;
  readonly command: { readonly title: string; readonly command: string };
  constructor(range: Range, command: CodeLens["command"]) {
    draw("lens", command.title);
    this.range = range;
    this.command = command;
  }
}
