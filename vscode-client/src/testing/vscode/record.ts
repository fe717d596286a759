import { drawn } from "./drawn.ts";

/** One message that was shown, and how the test answers it. */
export interface ShownMessage {
  readonly severity: "info" | "warning" | "error";
  readonly text: string;
  readonly detail: string | undefined;
  readonly isModal: boolean;
  readonly buttons: readonly string[];
  answer(button: string | undefined): void;
}

/** A log channel that keeps what it was given. */
export interface FakeChannel {
  readonly name: string;
  readonly lines: string[];
  isShown: boolean;
  isDisposed: boolean;
}

export interface WebviewViewProvider {
  resolveWebviewView(view: never): void;
}

/** What `seen` has; the parts of the editor write it. */
export const record = {
  messages: [] as ShownMessage[],
  drawn,
  commands: [] as { id: string; arguments: unknown[] }[],
  channels: [] as FakeChannel[],
  /** When files were last written, where a test says so; the others are just written. */
  modified: new Map<string, number>(),
  /** What fills webview views, by the view's id. */
  views: new Map<string, WebviewViewProvider>(),
  /** Webviews that were opened beside the editors, the newest last. */
  panels: [] as unknown[],
  clipboard: "",
  /** Titles of tabs that were closed. */
  closedTabs: [] as string[],
  /** Documents that were shown. */
  opened: [] as string[],
  /** If true, lists wait for the test's `window.pick`; otherwise the first item is picked. */
  holdsPicks: false,
};
