import { beforeEach, expect, it } from "vitest";
import { fakeContext } from "../testing/context.ts";
import { digest, fakePackages, listed, offer } from "../testing/packages.ts";
import { commands, seen, Uri, window, workspace } from "../testing/vscode.ts";
import { settled } from "../testing/wire.ts";

const id = "com.example.greeter";
const node = { package: "/config/lares/extensions/com.example.greeter" };
const document = { file: "/w/lares.yaml", isNew: false };

beforeEach(() => {
  seen.forget();
  workspace.workspaceFolders = [{ uri: Uri.file("/w"), name: "w", index: 0 }];
  window.chosenFile = Uri.file("/packages/greeter.lares");
});

function start(answers: Record<string, unknown> = {}, isAnswered = false) {
  const fake = fakeContext({
    "lares/trust/question": () => ({
      extensions: ["1.0.0", "1.1.0"].map((version) => ({ extension: id, version, answered: isAnswered })),
    }),
  });
  return Object.assign(fakePackages(fake, answers), { fake });
}

/** Runs a command, and answers each dialog with the next of these buttons. */
async function run(
  command: string,
  given?: unknown,
  ...buttons: readonly (string | undefined)[]
): Promise<void> {
  const done = commands.executeCommand(command, given);
  for (const button of buttons) {
    await settled();
    seen.messages.at(-1)?.answer(button);
  }
  await done;
  await settled();
}
const dialogs = (): string[] => seen.messages.filter(({ isModal }) => isModal).map(({ text }) => text);
const consents = (): number => seen.commands.filter(({ id }) => id === "lares.trustWorkspace").length;

it("a chosen file is verified and shown; only then exactly this package is installed, and the person is asked what it may do", async () => {
  const { ran } = start({
    "install --dry-run": { offer: offer(), document },
    install: { id, version: "1.0.0" },
  });
  await run("lares.packageInstall", undefined, "Install");
  expect(ran.filter((words) => words.startsWith("install"))).toEqual([
    "install --dry-run -- /packages/greeter.lares",
    `install --accept ${digest} -- /packages/greeter.lares`,
  ]);
  expect(seen.messages[0]).toMatchObject({ isModal: true, buttons: ["Install"] });
  expect(seen.messages[0]?.detail).toMatch(
    /Signed by SHA256:abcdefghijkl\nYou install this extension for the first time[^]*• see and read files[^]*added to \/w\/lares\.yaml\. Nothing is allowed yet/,
  );
  expect(consents()).toBe(1);
});

it("nothing is installed without the person's answer, and nothing is asked about what was answered before", async () => {
  const { ran, answers } = start({ "install --dry-run": { offer: offer(), document: null } }, true);
  await run("lares.packageInstall", undefined, undefined);
  expect(ran).not.toContainEqual(expect.stringContaining("--accept"));
  answers["install"] = { id, version: "1.0.0" };
  await run("lares.packageInstall", undefined, "Install");
  expect(ran).toContainEqual(expect.stringContaining("--accept"));
  expect(consents()).toBe(0);
});

it("a refusal of the command line is shown whole, and nothing is asked", async () => {
  const sentence = `${id} is signed by another publisher than the one you installed it from. Before: SHA256:${"a".repeat(43)}. Now: SHA256:${"b".repeat(43)}.`;
  const { ran } = start({ "install --dry-run": new Error(sentence) });
  await run("lares.packageInstall");
  expect(seen.messages).toMatchObject([
    { severity: "error", isModal: true, text: "Nothing was installed.", detail: sentence },
  ]);
  expect(ran).toHaveLength(1);
});

it("an answer in another form than the command line's is refused", async () => {
  const { ran } = start({ "install --dry-run": { offer: offer({ sha256: "-rf" }), document } });
  await run("lares.packageInstall");
  expect(seen.messages).toMatchObject([{ severity: "error" }]);
  expect(ran).toHaveLength(1);
});

it("nothing is written beneath unsaved changes of lares.yaml", async () => {
  workspace.textDocuments = [{ uri: Uri.file("/w/lares.yaml"), isDirty: true, save: async () => true }];
  const { ran } = start({ "install --dry-run": { offer: offer(), document } });
  await run("lares.packageInstall", undefined, "Install");
  expect(seen.messages.at(-1)?.text).toMatch(/lares\.yaml has unsaved changes/);
  expect(ran).not.toContainEqual(expect.stringContaining("--accept"));
});

it("in Restricted Mode no command runs, and the editor's own question is opened", async () => {
  workspace.isTrusted = false;
  const { ran } = start();
  for (const command of ["Install", "Search", "CheckUpdates", "Refresh", "Update", "Use", "Remove", "Open"])
    await run(`lares.package${command}`, node);
  expect(ran).toEqual([]);
  expect(new Set(seen.commands.map(({ id }) => id))).toContain("workbench.trust.manage");
});

it("an update is shown with what it requests beyond the installed version, and is bound to its digest", async () => {
  const more = offer({ version: "1.1.0", installed: "1.0.0", more: ["put tags on files"] });
  const { ran, answers } = start({ list: { items: [listed()] } });
  answers["update --dry-run"] = {
    items: [{ id, scope: "user", from: "1.0.0", to: "1.1.0", state: "available", offer: more }],
  };
  answers["update"] = { items: [{ id, scope: "user", from: "1.0.0", to: "1.1.0", state: "updated" }] };
  await run("lares.packageUpdate", node, "Update");
  expect(dialogs()).toEqual(["Update the extension “Greeter” from 1.0.0 to 1.1.0?"]);
  expect(seen.messages[0]?.detail).toContain("More than the installed version:\n• put tags on files");
  expect(ran).toContain(`update --accept ${digest} -- ${id}`);
  expect(consents()).toBe(1);
});

it("what cannot be updated says why, and what is current says so", async () => {
  const { answers } = start({ list: { items: [listed()] } });
  answers["update --dry-run"] = {
    items: [{ id, scope: "user", from: "1.0.0", to: null, state: "failed", error: "It is gone." }],
  };
  await run("lares.packageUpdate", node);
  answers["update --dry-run"] = {
    items: [{ id, scope: "user", from: "1.0.0", to: "1.0.0", state: "current" }],
  };
  await run("lares.packageUpdate", node);
  expect(seen.messages.map(({ text }) => text)).toEqual([
    "It was not updated: It is gone.",
    "Greeter 1.0.0 is up to date.",
  ]);
});

it("a check names how many can be updated, also if another extension cannot be checked", async () => {
  const { answers, ran } = start({ list: { items: [listed()] } });
  const newer = { id, scope: "user", from: "1.0.0", to: "1.1.0", state: "available", offer: offer() };
  answers["update --dry-run"] = { items: [newer] };
  await run("lares.packageCheckUpdates");
  answers["update --dry-run"] = {
    items: [newer, { ...newer, id: "a.b", state: "failed", error: "It is gone." }],
  };
  await run("lares.packageCheckUpdates");
  expect(seen.messages.map(({ text }) => text)).toEqual([
    "1 extension can be updated.",
    "Not every extension can be checked: a.b: It is gone.",
  ]);
  expect(ran).not.toContainEqual(expect.stringContaining("--accept"));
});

it("an extension that another workspace uses is installed here from where it came, as any other", async () => {
  const index = "https://example.com/index.json";
  const { answers, ran } = start({ "install --dry-run": { offer: offer(), document } });
  const used = async (given: object): Promise<string | undefined> => {
    answers["list"] = { items: [listed({ inUse: false, ...given })] };
    await run("lares.packageRefresh");
    ran.length = 0;
    await run("lares.packageUse", node, undefined);
    return ran.at(-1);
  };
  expect(await used({})).toBe("install --dry-run -- /packages/greeter.lares");
  expect(await used({ source: `index:${index}`, index })).toBe(`install --dry-run --from ${index} -- ${id}`);
  expect(await used({ source: null })).toBeUndefined();
  expect(seen.messages.at(-1)?.text).toMatch(/not known where/);
});

it("removing asks what becomes of its memory; to delete it takes a second answer, while no kernel runs", async () => {
  const fixed = start({ list: { items: [listed()] }, remove: { removed: id, forgotten: false } });
  const memories = [{ folder: "/state/memory", isHere: true }];
  fixed.answers["remove --dry-run"] = { id, folder: node.package, document, memories };
  const removals = (): string[] => fixed.ran.filter((words) => words.startsWith("remove --yes"));
  await run("lares.packageRemove", node, "Remove and Delete Its Memory…", undefined);
  expect(removals()).toEqual([]);
  await run("lares.packageRemove", node, "Remove, Keep Its Memory");
  expect([removals(), fixed.pauses]).toEqual([[`remove --yes -- ${id}`], 0]);
  await run("lares.packageRemove", node, "Remove and Delete Its Memory…", "Remove and Delete");
  expect([removals().at(-1), fixed.pauses]).toEqual([`remove --yes --forget -- ${id}`, 1]);
});

it("another package than the one that was chosen is not removed", async () => {
  const { ran } = start({
    list: { items: [listed()] },
    "remove --dry-run": { id, folder: "/w/.lares/extensions/x", document: null, memories: [] },
  });
  await run("lares.packageRemove", node);
  expect(seen.messages.at(-1)?.text).toMatch(/of its own, which goes first/);
  expect(ran).not.toContainEqual(expect.stringContaining("--yes"));
});

it("an index is what the person types; its entry is only looked up, and the package itself is shown", async () => {
  const found = { id, version: "1.0.0", name: "Greeter", description: "", size: 1, fingerprint: "SHA256:x" };
  const { ran, fake } = start({
    search: { items: [{ ...found, permissions: ["read_entries"] }] },
    "install --dry-run": { offer: offer(), document },
  });
  window.input = "lares/index.json";
  await run("lares.packageSearch");
  expect(ran).toEqual([]);
  window.input = "https://example.com/index.json";
  await run("lares.packageSearch", undefined, undefined);
  expect(ran).toEqual([
    "search --from https://example.com/index.json -- https://example.com/index.json",
    `install --dry-run --from https://example.com/index.json -- ${id}`,
  ]);
  expect([...fake.kept.values()]).toEqual(["https://example.com/index.json"]);
  expect(dialogs()).toHaveLength(1);
});
