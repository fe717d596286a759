import type { Frame } from "playwright-core";
import { noModels } from "../../support/no-models.ts";
import { acceptDocuments } from "../support/person.ts";
import { Desk } from "./desk.ts";
import type { Screen } from "./screen.ts";

/** Selects the field in which a person writes a message. */
export const messageField = 'textarea[aria-label="Message"]';

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
