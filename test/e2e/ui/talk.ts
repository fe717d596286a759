import type { Frame } from "playwright-core";
import { noModels } from "../../support/no-models.ts";
import { acceptDocuments } from "../support/person.ts";
import { Desk } from "./desk.ts";
import type { Screen } from "./screen.ts";

/** Selects the field in which a person writes a message. */
export const messageField = 'textarea[aria-label="Message"]';

/** The only mind of these workspaces, which is called Steward. */
export const agent = "com.example.steward";

/** Returns the files of a workspace with the mind and `files`, with what a test adds to its definition and manifest. */
export function mindFiles(
  definition: object,
  {
    effects = ["file.write"],
    manifest = {},
    files = {},
  }: {
    readonly effects?: readonly string[];
    readonly manifest?: object;
    readonly files?: Readonly<Record<string, string>>;
  } = {},
): Record<string, string> {
  const extension = {
    id: agent,
    name: "Steward",
    version: "1.0.0",
    permissions: { use_models: [{ category: "chat" }], read_entries: true, propose_actions: effects },
    mind: { identity: ["SOUL.md"], tools: ["files/*"], ...definition },
    ...manifest,
  };
  return {
    "lares.yaml": `version: 1\nextensions:\n  - id: ${agent}\n`,
    "readme.md": "A garden\n",
    ".lares/extensions/steward/SOUL.md": "I am calm.\n",
    ".lares/extensions/steward/extension.yaml": JSON.stringify({ extension }),
    ...files,
  };
}

/** Returns the files of a person whose only model answers by these turns. */
export function scriptedModel(contextTokens: number, turns: readonly object[]): Record<string, string> {
  return {
    "lares.yaml": `version: 1
models:
  providers:
    rehearsal: { api: scripted, script: ./rehearsal.yaml }
  routes: { default: rehearsal/script }
`,
    "rehearsal.yaml": JSON.stringify({ context_tokens: contextTokens, turns }),
  };
}

/** Opens a workspace whose documents are accepted, with the view of conversations beside the editor. */
export async function openTalk(
  files: Readonly<Record<string, string>>,
  userFiles: Readonly<Record<string, string>>,
): Promise<Desk> {
  const desk = await Desk.open({
    files,
    userFiles,
    environment: noModels,
    settings: { "workbench.secondarySideBar.defaultVisibility": "visible" },
  });
  await acceptDocuments(desk.vscode);
  return desk;
}

/** Begins a conversation with the only mind of the workspace, and returns its page. */
export async function beginTalk(screen: Screen): Promise<Frame> {
  await screen.openLares();
  await screen.item(/^Agent Steward/).waitFor();
  await screen.command("Lares: New Conversation");
  const page = await screen.webview(messageField);
  await page.locator(".log .none").waitFor();
  await page.locator(messageField).waitFor();
  return page;
}

/** Sends a message from the page of a conversation. */
export async function say(page: Frame, text: string): Promise<void> {
  await page.locator(messageField).fill(text);
  await page.locator(messageField).press("Enter");
}
