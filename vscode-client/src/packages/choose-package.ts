import { homedir } from "node:os";
import { Uri, window, type Memento } from "vscode";
import { label, message } from "../model/text.ts";
import { size } from "../webviews/shared/size.ts";
import type { FoundExtension } from "./answers.ts";
import type { PackageCommands, Wanted, Where } from "./package-commands.ts";
import { nameOf } from "./package-tree.ts";
import { withProgress } from "./progress.ts";

/** The index that the person named last; only they choose one, never a workspace. */
const indexKey = "lares.packages.index";
const address = /^https?:\/\/\S+$/i;
const npmName = /^npm:\S+$/;

/** Lets the person choose where a package comes from; undefined if they cancel. */
export async function choosePackage(
  packages: PackageCommands,
  state: Memento,
  where: () => Promise<Where | undefined>,
): Promise<Wanted | undefined> {
  const kinds = [
    {
      label: "$(file-zip) From File…",
      detail: "A package that somebody gave you: a .lares file",
      choose: file,
    },
    {
      label: "$(folder) From Folder…",
      detail: "A folder with a package, or with an extension's sources, which are packed with your own key",
      choose: folder,
    },
    {
      label: "$(globe) From an Address…",
      detail: "A package on the web",
      choose: () => typed("The address of a package", "https://…", address),
    },
    {
      label: "$(package) From npm…",
      detail: "The package that an npm package carries",
      choose: async () => {
        const name = await typed("The name of an npm package", "npm:example-photos", npmName, "npm:");
        return name;
      },
    },
    {
      label: "$(search) From an Index…",
      detail: "Search a list of extensions that somebody hosts",
      choose: async () => {
        const place = await where();
        return place && (await search(packages, state, place));
      },
    },
  ];
  const chosen = await window.showQuickPick(kinds, {
    title: "Install an Extension for Lares",
    placeHolder: "Where is it? It is verified and shown to you before anything is installed.",
  });
  return chosen?.choose();
}

async function file(): Promise<Wanted | undefined> {
  const [uri] =
    (await window.showOpenDialog({
      title: "Install an Extension for Lares",
      openLabel: "Look at It",
      filters: { "Packages for Lares": ["lares"], "All files": ["*"] },
    })) ?? [];
  return uri && { reference: uri.fsPath };
}

async function folder(): Promise<Wanted | undefined> {
  const [uri] =
    (await window.showOpenDialog({
      title: "Install an Extension for Lares",
      openLabel: "Look at It",
      canSelectFiles: false,
      canSelectFolders: true,
    })) ?? [];
  return uri && { reference: uri.fsPath };
}

async function typed(
  prompt: string,
  placeHolder: string,
  form: RegExp,
  value = "",
): Promise<Wanted | undefined> {
  const text = await window.showInputBox({
    title: "Install an Extension for Lares",
    prompt,
    placeHolder,
    value,
    ignoreFocusOut: true,
    validateInput: (input) => (form.test(input.trim()) ? undefined : `Write it like this: ${placeHolder}`),
  });
  const reference = text?.trim() ?? "";
  return form.test(reference) ? { reference } : undefined;
}

/** Searches an index that the person names, and lets them choose one of its extensions; undefined if they cancel. */
export async function search(
  packages: PackageCommands,
  state: Memento,
  where: Where,
): Promise<Wanted | undefined> {
  const last = state.get<unknown>(indexKey);
  const index = (
    await window.showInputBox({
      title: "Search an Index (1/2)",
      prompt: "The index: its address, or the absolute path of its file or folder",
      placeHolder: "https://example.com/lares/index.json",
      value: typeof last === "string" ? last : "",
      ignoreFocusOut: true,
      validateInput: (input) =>
        isPlace(input.trim())
          ? undefined
          : "Write an address that begins with https://, or an absolute path.",
    })
  )?.trim();
  if (index === undefined || !isPlace(index)) return undefined;
  const words = await window.showInputBox({
    title: "Search an Index (2/2)",
    prompt: "Words that the id, name, description or permissions have; nothing: all extensions",
    ignoreFocusOut: true,
  });
  if (words === undefined) return undefined;
  const place = index.startsWith("~/") ? Uri.joinPath(Uri.file(homedir()), index.slice(2)).fsPath : index;
  const found = await withProgress("Searching the index", (signal) =>
    packages.search(place, words, { ...where, signal }),
  );
  await state.update(indexKey, index);
  if (found.length === 0) {
    void window.showInformationMessage("The index has no extension with these words.");
    return undefined;
  }
  const chosen = await window.showQuickPick(found.map(foundItem), {
    title: "Search an Index",
    placeHolder: "Only the package itself counts; it is shown to you next",
    matchOnDescription: true,
    matchOnDetail: true,
  });
  return chosen && { reference: chosen.id, from: place };
}

const isPlace = (text: string): boolean => address.test(text) || /^(?:\/|~\/|[A-Za-z]:[\\/]|\\\\)/.test(text);

function foundItem({ id, name, version, description, fingerprint, ...found }: FoundExtension): {
  label: string;
  description: string;
  detail: string;
  id: string;
} {
  const requests = found.permissions.map((permission) => message(permission, 60)).join(", ") || "nothing";
  return {
    label: nameOf({ name, id }),
    description: `${label(id)} ${label(version, 40)}, ${size(found.size)}`,
    detail: [
      ...(description === "" ? [] : [message(description, 200)]),
      `says it requests ${message(requests, 200)}`,
      `signed by ${label(fingerprint)}`,
    ].join(" · "),
    id,
  };
}
