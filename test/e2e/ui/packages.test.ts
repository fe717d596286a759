import { mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { greeterId as id, greeterSources as sources } from "../../support/package-person.ts";
import { runNode } from "../../support/run-node.ts";
import { TemporaryFolder } from "../../support/temporary-folder.ts";
import { until } from "../../support/until.ts";
import { Desk } from "./desk.ts";
import type { Screen } from "./screen.ts";

const executable = fileURLToPath(new URL("../../../kernel/bin/lares.js", import.meta.url));
let desk: Desk;
let author: TemporaryFolder;

interface Packed {
  readonly id: string;
  readonly version: string;
  readonly file: string;
  readonly sha256: string;
  readonly size: number;
  readonly publisher: string;
}

/** Packs a version of the extension with the key of `who`. */
async function packAs(who: string, version: string): Promise<Packed> {
  const folder = join(author.path, who, version);
  await mkdir(folder, { recursive: true });
  for (const [name, text] of Object.entries(sources(version))) await writeFile(join(folder, name), text);
  const env = {
    ...process.env,
    LARES_HOME: join(author.path, who, "home"),
    XDG_CONFIG_HOME: join(author.path, who, "config"),
  };
  // A package is signed with the only key; the first is made here.
  const keys = await runNode([executable, "keys", "--json"], { cwd: folder, env });
  if ((JSON.parse(keys.stdout) as { items: unknown[] }).items.length === 0)
    await runNode([executable, "keys", "new"], { cwd: folder, env });
  const { code, stdout, stderr } = await runNode([executable, "pack", "--json"], { cwd: folder, env });
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout) as Packed;
}
const pack = async (who: string, version: string): Promise<string> => (await packAs(who, version)).file;

beforeAll(async () => {
  author = await TemporaryFolder.create("lares-author-");
  desk = await Desk.open({
    files: { "readme.md": "# A folder of my own\n", "in/a.txt": "a", "out/b.txt": "b" },
  });
});
afterAll(async () => {
  await desk[Symbol.asyncDispose]();
  await author[Symbol.asyncDispose]();
});

/** Opens the view alone in the side bar. */
async function openView(screen: Screen): Promise<void> {
  await screen.openLares();
  for (const title of ["Agents", "Approvals", "Activity", "Memory"]) await screen.fold(title);
  const header = screen.page.getByRole("button", { name: "Extensions for Lares Section" });
  if ((await header.getAttribute("aria-expanded")) !== "true") await header.click();
}

/** Chooses a package's file as a person does in a browser: by its path. */
async function chooseFile(screen: Screen, path: string): Promise<void> {
  await screen.page.locator(".quick-input-list-row", { hasText: "From File…" }).click();
  const box = screen.page.locator(".quick-input-widget");
  await box.getByRole("button", { name: "Look at It" }).waitFor();
  // The dialog lists its first folder by itself, and writes that folder's path into the box then.
  await box.locator(".quick-input-list-row", { hasText: /^\.\.$/ }).waitFor();
  const input = box.locator("input");
  await until("the dialog to take the path", async () => {
    if ((await input.inputValue()) === path) return true;
    await input.fill(path);
    return false;
  });
  await box.getByRole("button", { name: "Look at It" }).click();
}

const dialog = (screen: Screen) => screen.page.locator(".monaco-dialog-box");

it("a package is verified, shown, installed, allowed, updated and removed in its view", () =>
  desk.window("packages", async (screen) => {
    const { page } = screen;
    const file = await pack("friend", "1.0.0");
    await openView(screen);
    await page.getByText("No extension is installed from a package yet.").waitFor();
    await screen.picture("packages-empty");

    await page.getByRole("button", { name: "Install an Extension…" }).last().click();
    await page.locator(".quick-input-list-row", { hasText: "From npm…" }).waitFor();
    await screen.picture("packages-sources");
    await chooseFile(screen, file);
    await dialog(screen).getByText("Install the extension “Greeter”?").waitFor();
    const shown = await dialog(screen).innerText();
    expect(shown).toMatch(/Signed by SHA256:\S{43}/);
    expect(shown).toContain("for the first time");
    expect(shown).toContain("It reaches no hosts.");
    await screen.picture("packages-offer");
    expect(await readdir(desk.vscode.workspace())).not.toContain("lares.yaml");
    await dialog(screen).getByRole("button", { name: "Install" }).click();

    // Installed, and asked what it may do.
    const question = await screen.webview("main.consent article");
    await question.getByText("Greeter").first().waitFor();
    expect(await readFile(desk.vscode.workspace("lares.yaml"), "utf8")).toContain(id);
    await screen.item(/^Extension Greeter, version 1\.0\.0, needs your permission/).waitFor();
    await screen.picture("packages-asked");
    await question.getByRole("checkbox", { name: /^Greeter:/ }).click();
    await question.getByRole("button", { name: "Allow Selected" }).click();
    const item = screen.item(/^Extension Greeter, version 1\.0\.0, on/);
    await item.waitFor();
    await item.click();
    await page.getByRole("treeitem", { name: /^Signed by: / }).waitFor();
    await screen.picture("packages-installed");

    // Another publisher's package of the same id is refused.
    const foreign = await pack("stranger", "3.0.0");
    await screen.command("Lares: Install an Extension");
    await chooseFile(screen, foreign);
    await dialog(screen).getByText("signed by another publisher").waitFor();
    expect(await dialog(screen).innerText()).toMatch(/Before: SHA256:\S{43}\. Now: SHA256:\S{43}\./);
    await screen.picture("packages-foreign");
    await dialog(screen).getByRole("button", { name: "OK" }).click();

    // A newer version at the same place.
    await writeFile(file, await readFile(await pack("friend", "1.1.0")));
    await screen.command("Lares: Check for Updates of Extensions");
    await screen.item(/^Extension Greeter, version 1\.0\.0, update to 1\.1\.0, on/).waitFor();
    await screen.picture("packages-update");
    await screen.item(/^Extension Greeter/).hover();
    await page.getByRole("button", { name: "Update Extension…" }).first().click();
    await dialog(screen).getByText("from 1.0.0 to 1.1.0?").waitFor();
    await screen.picture("packages-update-offer");
    await dialog(screen).getByRole("button", { name: "Update" }).click();
    await screen.item(/^Extension Greeter, version 1\.1\.0, on/).waitFor();

    // It is removed with its memory.
    await screen.item(/^Extension Greeter/).click({ button: "right" });
    await screen.picture("packages-menu");
    await page.getByRole("menuitem", { name: "Remove Extension…" }).click();
    await dialog(screen).getByText("Remove the extension “Greeter”?").waitFor();
    await screen.picture("packages-remove");
    await dialog(screen).getByRole("button", { name: "Remove and Delete Its Memory…" }).click();
    await dialog(screen).getByText("remembers for good?").waitFor();
    await screen.picture("packages-forget");
    await dialog(screen).getByRole("button", { name: "Remove and Delete", exact: true }).click();
    await page.getByText("No extension is installed from a package yet.").waitFor();
    expect(await readFile(desk.vscode.workspace("lares.yaml"), "utf8")).not.toContain(id);
    expect(await readdir(join(desk.vscode.configuration, "lares", "extensions"))).toEqual([]);
    await screen.picture("packages-removed");
  }));

it("an extension is found in an index, whose words stay plain text, and is allowed, disabled and enabled from its item", () =>
  desk.window("packages index", async (screen) => {
    const { page } = screen;
    const packed = await packAs("friend", "2.0.0");
    const index = join(author.path, "index.json");
    const { id, version, sha256, size, publisher } = packed;
    const entry = {
      id,
      version,
      sha256,
      size,
      publisher,
      url: relative(author.path, packed.file),
      name: "Greeter $(flame)\u202e",
      description: "[Says](command:x) hello",
      permissions: [],
    };
    await writeFile(index, JSON.stringify({ format: 1, extensions: [entry] }));

    await openView(screen);
    await screen.command("Lares: Search an Index of Extensions");
    const box = page.locator(".quick-input-widget");
    await box.getByText("Search an Index (1/2)").waitFor();
    await box.locator("input").fill("lares/index.json");
    await box.getByText("or an absolute path").waitFor();
    await box.locator("input").fill(index);
    await page.keyboard.press("Enter");
    await box.getByText("Search an Index (2/2)").waitFor();
    await box.locator("input").fill("hello");
    await page.keyboard.press("Enter");
    const found = box.locator(".quick-input-list-row", { hasText: id });
    await found.waitFor();
    expect(await found.innerText()).toContain("$<U+0028>flame)<U+202E>");
    await screen.picture("packages-found");
    await page.keyboard.press("Enter");
    // The package says what it is called itself.
    await dialog(screen).getByText("Install the extension “Greeter”?").waitFor();
    await dialog(screen).getByRole("button", { name: "Install" }).click();
    const question = await screen.webview("main.consent article");
    await question.getByRole("button", { name: "Not Now" }).click();

    const item = (state: string) =>
      screen.item(new RegExp(`^Extension Greeter, version 2\\.0\\.0, ${state}`));
    const choose = async (state: string, title: string): Promise<void> => {
      await item(state).click({ button: "right" });
      const entry = page.getByRole("menuitem", { name: title });
      await entry.waitFor();
      // A menu ignores the mouse for a moment after it has opened.
      await until(`the menu to take "${title}"`, async () => {
        await entry.click({ timeout: 2_000 }).catch(() => undefined);
        return (await entry.count()) === 0;
      });
    };
    await choose("needs your permission", "Choose What Agents May Do…");
    const again = await screen.webview("main.consent article");
    // What was allowed to an earlier version is ticked already.
    await again.getByRole("checkbox", { name: /^Greeter:/ }).check();
    await again.getByRole("button", { name: "Allow Selected" }).click();
    await choose("on", "Disable Agent");
    await choose("disabled", "Enable Agent");
    await choose("on", "Open README of Extension");
    await page.getByRole("tab", { name: /^README\.md/ }).waitFor();
    await screen.picture("packages-readme");
  }));

it("in Restricted Mode the view says so, and its commands do nothing but ask for trust", async () => {
  const file = await pack("friend", "1.2.0");
  await using restricted = await Desk.open({
    asksForTrust: true,
    files: { "readme.md": "# Somebody's folder\n", "given.lares": await readFile(file, "latin1") },
    settings: { "security.workspace.trust.startupPrompt": "never" },
  });
  await restricted.window("packages restricted", async (screen) => {
    await openView(screen);
    await screen.page.getByText("extensions are neither listed nor installed here").waitFor();
    await screen.picture("packages-restricted");
    await screen.command("Lares: Install an Extension");
    await screen.page.getByRole("button", { name: "Trust", exact: true }).waitFor();
    expect(await screen.page.locator(".quick-input-list-row", { hasText: "From File…" }).count()).toBe(0);
    expect(await readdir(restricted.vscode.workspace())).toEqual(["given.lares", "readme.md"]);
  });
});
