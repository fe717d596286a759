import { commands, Disposable, ProgressLocation, ThemeIcon, window, type QuickPickItem } from "vscode";
import type { ClientContext, Feature } from "../feature.ts";
import { count, label, message } from "../model/text.ts";
import type { ResultOf } from "../protocol.ts";
import { reporting } from "../deciding/explain.ts";

type Listing = ResultOf<"lares/models/list">;
type Secret = ResultOf<"lares/secrets/list">["items"][number];

const stateWords: Readonly<Record<Listing["providers"][number]["state"], string>> = {
  ready: "ready",
  no_key: "no key",
  unreachable: "unreachable",
  unknown: "not asked",
};
const remove = { iconPath: new ThemeIcon("trash"), tooltip: "Remove this secret" };

/** Language models and their usage, and the secrets that providers and agents need. */
export const modelCommands: Feature = (context) =>
  Disposable.from(
    commands.registerCommand("lares.openModels", () =>
      reporting("The language models cannot be shown", () => showModels(context)),
    ),
    commands.registerCommand("lares.openSecrets", () =>
      reporting("The secrets cannot be shown", () => showSecrets(context)),
    ),
    commands.registerCommand("lares.storeSecret", () =>
      reporting("The secret was not stored", () => storeSecret(context)),
    ),
  );

interface ModelRow extends QuickPickItem {
  /** Absent for the row that opens the page. */
  readonly model?: string;
}

const pageRow: ModelRow = {
  label: "$(pulse) Show Usage and Prices",
  detail: "Tokens and dollars by day, model and agent; all models, and which does what",
  alwaysShow: true,
};

/** Lists the models that can be used; the chosen one is asked for a word. */
async function showModels({ kernel }: ClientContext): Promise<void> {
  const listing = await kernel.request("lares/models/list", {});
  const { groups } = await kernel.request("lares/usage", { group_by: "model" });
  if (listing.providers.length === 0) {
    void window.showInformationMessage(
      "No language model is set up. Name a provider under models: in your own lares.yaml, and store its key with “Lares: Store a Secret…”.",
    );
    return;
  }
  const usable = listing.models.filter(
    ({ id }) => stateOf(listing, id) !== "no_key" || isRouted(listing, id),
  );
  const picked = await window.showQuickPick<ModelRow>(
    [pageRow, ...usable.map((model) => rowOf(model, listing, groups))],
    {
      title: "Language Models",
      placeHolder: "Choose one to test whether it answers",
      matchOnDescription: true,
      matchOnDetail: true,
    },
  );
  if (picked === undefined) return;
  const { model } = picked;
  if (model === undefined) return void (await commands.executeCommand("lares.showUsage"));
  const result = await window.withProgress(
    { location: ProgressLocation.Notification, title: `Asking ${label(model, 80)}` },
    () => kernel.request("lares/models/test", { model }),
  );
  if (result.ok)
    void window.showInformationMessage(
      `${label(model, 80)} answers after ${Math.round(result.first_token_ms ?? 0).toLocaleString("en")} ms.`,
    );
  else void window.showWarningMessage(message(result.error?.message ?? "The model did not answer.", 500));
}

const stateOf = ({ providers }: Listing, model: string): Listing["providers"][number]["state"] =>
  providers.find(({ id }) => model.startsWith(`${id}/`))?.state ?? "unknown";

const isRouted = ({ routes }: Listing, model: string): boolean => Object.values(routes).includes(model);

function rowOf(
  {
    id,
    context_tokens: context,
    input_usd_per_mtok: input,
    output_usd_per_mtok: output,
  }: Listing["models"][number],
  listing: Listing,
  groups: ResultOf<"lares/usage">["groups"],
): ModelRow {
  const routes = Object.entries(listing.routes)
    .filter(([, model]) => model === id)
    .map(([route]) => label(route, 40));
  const used = groups.find(({ key }) => key === id);
  return {
    model: id,
    label: label(id, 120),
    description: [stateWords[stateOf(listing, id)], ...routes].join(" · "),
    detail: [
      ...(context === undefined ? [] : [`${Math.round(context / 1000).toLocaleString("en")}k tokens`]),
      ...(input === undefined || output === undefined ? [] : [`$${input} / $${output} per million tokens`]),
      ...(used === undefined
        ? ["not used yet"]
        : [
            `used ${count(used.requests, "time")}`,
            ...(used.usd === undefined ? [] : [`$${used.usd.toFixed(2)}`]),
          ]),
    ].join(" · "),
  };
}

interface SecretRow extends QuickPickItem {
  readonly secret: Secret;
}

async function showSecrets(context: ClientContext): Promise<void> {
  const { items } = await context.kernel.request("lares/secrets/list", {});
  if (items.length === 0) return await storeSecret(context);
  const pick = window.createQuickPick<SecretRow>();
  pick.title = "Secrets";
  pick.placeholder = "Values are never shown. The trash icon removes a secret.";
  pick.items = items.map((secret) => ({
    secret,
    label: label(secret.name, 80),
    description: secret.hosts.map((host) => label(host, 80)).join(", ") || "no host",
    detail: secret.source === "environment" ? "from the environment" : `sent in ${label(secret.in, 80)}`,
    buttons: secret.created === null ? [] : [remove],
  }));
  const listening = Disposable.from(
    pick.onDidTriggerItemButton(({ item }) => {
      pick.hide();
      void reporting("The secret was not removed", () => removeSecret(context, item.secret));
    }),
    pick.onDidAccept(() => pick.hide()),
    pick.onDidHide(() => {
      listening.dispose();
      pick.dispose();
    }),
  );
  pick.show();
}

async function removeSecret({ kernel }: ClientContext, { name, hosts }: Secret): Promise<void> {
  const yes = "Remove";
  const answer = await window.showWarningMessage(
    `Remove the secret ${label(name, 80)}?`,
    { modal: true, detail: `It is sent to ${hosts.map((host) => label(host, 80)).join(", ")}.` },
    yes,
  );
  if (answer !== yes) return;
  await kernel.request("lares/secrets/remove", { name });
  window.setStatusBarMessage("$(trash) The secret is removed.", 6_000);
}

/** Asks for a name, the hosts and the value, which is not shown. */
async function storeSecret({ kernel }: ClientContext): Promise<void> {
  const name = await window.showInputBox({
    title: "Store a Secret (1 of 3)",
    prompt: "Its name, as documents and agents refer to it",
    placeHolder: "anthropic",
    ignoreFocusOut: true,
    validateInput: (text) =>
      /^[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?$/.test(text) ? undefined : "Use a-z, 0-9, “_” and “-”.",
  });
  if (name === undefined) return;
  const hosts = await window.showInputBox({
    title: "Store a Secret (2 of 3)",
    prompt: "The hosts to which it may be sent, separated by commas",
    placeHolder: "api.anthropic.com",
    ignoreFocusOut: true,
    validateInput: (text) => (text.trim() === "" ? "Name at least one host." : undefined),
  });
  if (hosts === undefined) return;
  const value = await window.showInputBox({
    title: "Store a Secret (3 of 3)",
    prompt: `The value of ${label(name, 80)}; it is stored encrypted and never shown again`,
    password: true,
    ignoreFocusOut: true,
    validateInput: (text) => (text === "" ? "Paste or type the value." : undefined),
  });
  if (value === undefined) return;
  const item = await kernel.request("lares/secrets/set", {
    name,
    value: value.trim(),
    hosts: hosts.split(",").map((host) => host.trim()),
  });
  window.setStatusBarMessage(`$(key) ${label(item.name, 80)} is stored.`, 6_000);
}
