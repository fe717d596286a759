import { beforeEach, describe, expect, it } from "vitest";
import { fakeContext } from "../testing/context.ts";
import { status } from "../testing/things.ts";
import { FileType, seen, Uri, window, workspace } from "../testing/vscode.ts";
import { FakeWebview } from "../testing/webview.ts";
import { consentContract } from "../webviews/consent/messages.ts";
import { consentPage, restrictedFirst } from "./consent.ts";

const digest = `sha256:${"0".repeat(64)}`;
const none = { extensions: [], workspace: [] };
const some = { extensions: [{ extension: "dev.lares.notes", parts: [], folders: [] }], workspace: [] };
/** Folders that the page asked the editor for. */
let listed: string[] = [];

beforeEach(() => {
  seen.forget();
  window.statusBarMessages = [];
  listed = [];
});

function start(refusal?: { code: string }) {
  const fake = fakeContext({
    "lares/trust": () => {
      if (refusal !== undefined) throw Object.assign(new Error("No."), { data: refusal });
      return {};
    },
  });
  Object.assign(workspace.fs, {
    readDirectory: async (uri: Uri) => {
      listed.push(uri.path);
      return [
        ["notes", FileType.Directory],
        [".git", FileType.Directory],
        ["a.md", FileType.File],
        ["archive", FileType.Directory],
      ];
    },
  });
  fake.status = status();
  const declined: string[] = [];
  const page = consentPage(fake.context, async (given) => void declined.push(given));
  const webview = new FakeWebview(consentContract).asPanel();
  const closed = page.open();
  return { page, closed, declined, webview, host: webview.host, fake };
}
const roots = (...paths: string[]): void =>
  void (workspace.workspaceFolders = paths.map((path, index) => ({
    uri: Uri.file(path),
    name: path.slice(path.lastIndexOf("/") + 1),
    index,
  })));

describe("folders to tick", () => {
  it("are those of the workspace, sorted, without files and hidden ones", async () => {
    roots("/w");
    const { host } = start();
    expect(await host.ask("subfolders", { path: "." })).toEqual({ names: ["archive", "notes"], more: 0 });
    await host.ask("subfolders", { path: "notes/old" });
    expect(listed).toEqual(["/w", "/w/notes/old"]);
  });

  it.each(["..", "notes/../..", "/etc", "notes//x", "./notes", ""])(
    "are empty, and nothing is read, for a path that may lead outside: %j",
    async (path) => {
      roots("/w");
      const { host } = start();
      const { names } = await host.ask("subfolders", { path }).catch(() => ({ names: [] }));
      expect(names).toEqual([]);
      expect(listed).toEqual([]);
    },
  );

  it("of several roots begin with the roots' names, and a missing root has none", async () => {
    roots("/one/notes", "/two/photos");
    const { host } = start();
    expect((await host.ask("subfolders", { path: "." })).names).toEqual(["notes", "photos"]);
    await host.ask("subfolders", { path: "photos/2024" });
    expect((await host.ask("subfolders", { path: "other" })).names).toEqual([]);
    expect(listed).toEqual(["/two/photos/2024"]);
  });
});

describe("the answer", () => {
  it.each([
    [some, "$(check) Allowed. The agents are starting."],
    [none, "$(check) No agent is allowed to run."],
  ])("goes with the digest of what was shown, and says what comes of it", async (grants, words) => {
    const { host, fake, closed } = start();
    expect(await host.ask("answer", { digest, grants })).toEqual({ accepted: true });
    expect(fake.asked).toEqual([{ method: "lares/trust", params: { trusted: true, digest, grants } }]);
    expect(window.statusBarMessages).toEqual([words]);
    await closed;
  });

  it("to a question that changed while the person read it is not accepted, and the page stays", async () => {
    const { host, webview, page } = start({ code: "DigestMismatch" });
    expect(await host.ask("answer", { digest, grants: some })).toEqual({ accepted: false });
    expect(window.statusBarMessages).toEqual([]);
    expect([webview.isClosed, page.isOpen]).toEqual([false, true]);
  });

  it("that the kernel refuses for another reason is reported to the page", async () => {
    const { host, webview } = start({ code: "Busy" });
    await expect(host.ask("answer", { digest, grants: some })).rejects.toThrow();
    expect(window.statusBarMessages).toEqual([]);
    expect(webview.isClosed).toBe(false);
  });

  it("“not now” is remembered for the shown question, and closes the page", async () => {
    const { host, declined, closed, page } = start();
    await host.ask("notNow", { digest });
    await closed;
    expect([declined, page.isOpen]).toEqual([[digest], false]);
  });
});

it("there is one page: requested again, it comes to the front, and both requests end with it", async () => {
  const { page, closed, webview } = start();
  const again = page.open();
  expect([seen.panels.length, webview.revealed]).toEqual([1, 1]);
  webview.close();
  await Promise.all([closed, again]);
  expect(page.isOpen).toBe(false);
});

it.each([
  [true, false],
  [false, true],
])(
  "the editor's own question comes first where it does not trust the folder: trusted %s",
  async (trusted, asks) => {
    workspace.isTrusted = trusted;
    expect(await restrictedFirst()).toBe(asks);
    expect(seen.commands.map(({ id }) => id)).toEqual(asks ? ["workbench.trust.manage"] : []);
  },
);
