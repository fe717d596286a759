/**
 * Replaces `vscode` in unit tests (an alias in vitest.config.ts): plain values as the editor has them, and a window and
 * a workspace that record what was asked of them. The end-to-end suites test what the client shows in a real editor.
 */
export { commands } from "./vscode/commands.ts";
export { type DrawnText } from "./vscode/drawn.ts";
export { version, openedAddresses, chat, env, languages } from "./vscode/editor.ts";
export { Disposable, EventEmitter } from "./vscode/events.ts";
export {
  LanguageModelTextPart,
  LanguageModelToolCallPart,
  LanguageModelToolResultPart,
  LanguageModelChatMessage,
  LanguageModelError,
  lm,
  LanguageModelToolResult,
} from "./vscode/language-models.ts";
export { ThemeColor, ThemeIcon, MarkdownString, FileDecoration, TreeItem, CodeLens } from "./vscode/looks.ts";
export { FakeQuickPick } from "./vscode/picks.ts";
export { type ShownMessage, type FakeChannel } from "./vscode/record.ts";
export { seen } from "./vscode/seen.ts";
export { TabInputText, TabInputTextDiff, TabInputWebview, showTab } from "./vscode/tabs.ts";
export {
  Uri,
  Position,
  Range,
  Selection,
  TextEditorRevealType,
  WorkspaceEdit,
  FileSystemError,
  FileType,
  FileChangeType,
  OverviewRulerLane,
  TreeItemCollapsibleState,
  StatusBarAlignment,
  ExtensionMode,
  CancellationError,
  ProgressLocation,
  QuickPickItemKind,
  Location,
  ViewColumn,
} from "./vscode/values.ts";
export { editorsChanged, window } from "./vscode/window.ts";
export { textsChanged, filesChanged, files, workspace } from "./vscode/workspace.ts";
