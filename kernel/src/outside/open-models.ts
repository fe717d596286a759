import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { finishedInTurns } from "../base/next-turn.ts";
import { waitUnlessAborted } from "../base/wait.ts";
import type { ModelSettings, ProviderSettings } from "../base/vocabulary/model-settings.ts";
import type { ModelEvent, ModelFailure, ModelRequest } from "../base/vocabulary/model.ts";
import type { Configuration } from "../documents/configuration.ts";
import { modelSettings } from "../documents/model-settings.ts";
import { usableLeakRules } from "../documents/leak-rules.ts";
import { defaultBaseUrls } from "../documents/schema/models.ts";
import type { EgressTrace } from "../egress/client/answer.ts";
import { EgressClient } from "../egress/client/egress-client.ts";
import { egressEnvironment } from "../egress/client/environment.ts";
import { maskingRequest } from "../egress/mask.ts";
import { InferenceClient } from "../inference/client/inference-client.ts";
import { LanguageModelClient } from "../inference/client/language-models.ts";
import { openCatalog, type ModelCatalog } from "../models/catalog.ts";
import { parseModelReference } from "../models/reference.ts";
import { ModelDirectory } from "../models/directory.ts";
import { FoundModels } from "../models/found.ts";
import type { AnswerRedactor } from "../models/redacted.ts";
import { type Asker, ModelRuntime, type ModelRuntimePorts } from "../models/runtime.ts";
import { chainFor, type Need } from "../models/routing.ts";
import { namesTarget, targetOf } from "../policy/egress.ts";
import { scriptedAnswer } from "../models/scripted.ts";
import { join, resolve } from "../platform/files/paths.ts";
import { randomHex } from "../platform/random.ts";
import type { PatternRule } from "../secret-scan/rules.ts";
import { scannerWith } from "../secret-scan/redact.ts";
import { Placeholders } from "../secrets/placeholders.ts";
import { Secrets } from "../secrets/secrets.ts";
import { secretRows } from "../user-state/secret-rows.ts";
import { type Usage, usage as usageOf } from "../user-state/usage.ts";
import type { EditorModels } from "../services/editor-models.ts";
import { UserState } from "../user-state/user-state.ts";
import { IssuedSecrets } from "./issued-secrets.ts";
import { LocalWindows } from "./local-windows.ts";
import { listLocal, localFiles, streamLocal } from "./local-models.ts";
import { ollamaAddress } from "./ollama-address.ts";
import { ProviderRequests, providerHosts } from "./provider-requests.ts";
import { RequestPace } from "./request-pace.ts";
import { rehearsalOf } from "./rehearsal.ts";
import { ScriptFiles } from "./script-files.ts";

interface ModelParts {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly userFolder: string;
  readonly stateHome: string;
  /** The user's home, for paths that begin with "~". */
  readonly home: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly opened: AsyncDisposableStack;
  /** Brings usage to the disk together with the logs; without it, each request waits for the disk. */
  readonly disk?: NonNullable<ConstructorParameters<typeof UserState>[0]["disk"]>;
  /** What the user's document says now. */
  document(): Pick<Configuration, "models" | "egress">;
  trace(trace: EgressTrace): void;
  /** The language models that editors offer. */
  readonly editor: Pick<EditorModels, "list" | "stream">;
  /** What a person is asked before a model is used. */
  readonly consent: Pick<ModelRuntimePorts, "allowsUnpriced" | "allowsFound">;
  /** The module around which optional packages are looked for; default: those of the inference host's client. */
  readonly packagesOf?: string;
  /** Which turns of scripts were given. */
  readonly turns: {
    isSpent(provider: string, turn: number, digest: string): boolean;
    spend(provider: string, turn: number, digest: string): Promise<void>;
  };
}

/** Everything that leads out of the machine: models, secrets, usage, requests. */
export interface KernelModels {
  readonly secrets: Secrets;
  readonly placeholders: Placeholders;
  readonly issued: IssuedSecrets;
  readonly usage: Usage;
  readonly runtime: ModelRuntime;
  readonly directory: ModelDirectory;
  readonly egress: EgressClient;
  readonly inference: InferenceClient;
  readonly pace: RequestPace;
  settings(): Promise<ModelSettings>;
  /** Returns the model that would be asked first for a need, and how many tokens it reads. */
  choose(need: Need): Promise<ChosenModel | { readonly failure: ModelFailure }>;
  /** True if the model's answers come from a file, and so from whoever wrote that. */
  isScripted(model: string): boolean;
  /** Returns whether the model belongs to a rehearsal and this kernel is none, or the other way round. */
  isOfOtherRun(model: string): boolean;
  /** What agents' requests are decided by, beside their own hosts. */
  networkRules(): Promise<{
    readonly privateHosts: readonly string[];
    readonly providerHosts: readonly { readonly provider: string; readonly host: string }[];
  }>;
}

interface ChosenModel {
  readonly model: string;
  readonly contextTokens: number;
}

const rehearsalProvider = "rehearsal";

/** Opens nothing before it is first needed: neither the file of secrets, nor a host, nor the catalogue. */
export function openModels(parts: ModelParts): KernelModels {
  const { environment, userFolder, stateHome, clock, log, opened, document } = parts;
  const state = opened.use(
    new UserState({ stateHome, log, ...(parts.disk === undefined ? {} : { disk: parts.disk }) }),
  );
  const secrets = new Secrets({
    rows: secretRows(state),
    keyPath: join(userFolder, "secrets.key"),
    environment,
    clock,
  });
  const usage = usageOf(state);
  const issued = new IssuedSecrets();
  const leakRules = (): readonly PatternRule[] => usableLeakRules(document().egress);
  const egress = opened.use(
    new EgressClient({
      clock,
      log,
      environment: () => {
        return environmentOfEgress(document().egress, parts);
      },
      patterns: leakRules,
      trace: (trace) => parts.trace(trace),
    }),
  );
  const scripts = new ScriptFiles();
  const inference = opened.use(new InferenceClient({ clock, log }));
  const script = rehearsalOf(environment)?.script;
  const written = (): ModelSettings => {
    const settings = modelSettings(
      script === undefined
        ? document().models
        : { providers: { [rehearsalProvider]: { api: "scripted", script } } },
    );
    return {
      ...settings,
      providers: Object.fromEntries(
        Object.entries(settings.providers).map(([id, provider]) => [id, withPaths(provider, parts)]),
      ),
    };
  };
  const languageModels = opened.use(
    new LanguageModelClient({
      clock,
      log,
      files: () => localFiles(written().providers),
      ...(parts.packagesOf === undefined ? {} : { packagesOf: parts.packagesOf }),
    }),
  );
  const found = new FoundModels({
    clock,
    environment,
    baseUrls: { ...defaultBaseUrls, ollama: ollamaAddress(environment["OLLAMA_HOST"]) },
    editorModels: () => parts.editor.list(),
    hasSecret: async (name, baseUrl) => {
      const target = targetOf(baseUrl);
      return (await secrets.list()).some(
        (secret) => secret.name === name && !("reason" in target) && namesTarget(target, secret.hosts),
      );
    },
    ask: (provider, signal) => requests.list(provider, signal),
  });
  const settings = (): Promise<ModelSettings> => found.known(written());
  let catalog: Promise<ModelCatalog> | undefined;
  const openedCatalog = (): Promise<ModelCatalog> => (catalog ??= openCatalog());
  // An address of a provider is closed to agents and to other providers, and the Ollama that is looked for is one.
  const namedProviders = (): readonly ProviderSettings[] => {
    const named = Object.values(modelSettings(document().models).providers);
    return named.length === 0 ? [found.ollama] : named;
  };
  const requests: ProviderRequests = new ProviderRequests({
    egress,
    secrets,
    issued,
    environment,
    privateHosts: () => document().egress.private_hosts ?? [],
    providers: namedProviders,
  });
  const runtime = new ModelRuntime({
    clock,
    settings: () => found.look(written()),
    catalog: openedCatalog,
    takesPictures: (provider, model) => directory.takesPictures(provider, model),
    prepare: (provider) => {
      if (isOnNetwork(provider)) egress.prepare(provider.api);
    },
    stream: (provider, request, asker, signal) =>
      streamOf(
        { ...parts, requests, issued, languageModels, leakRules, scripts },
        provider,
        request,
        asker,
        signal,
      ),
    usage,
    redact: () => redactorOf(leakRules()),
    ...parts.consent,
    random: () => Number.parseInt(randomHex(6), 16) / 2 ** 48,
  });
  const directory = new ModelDirectory({
    clock,
    settings: (refresh) => (refresh ? found.look(written()) : settings()),
    catalog: openedCatalog,
    keyProblem: async (provider) => {
      const found = await requests.key(provider);
      return "failure" in found ? found.failure.message : null;
    },
    ask: (provider, signal) =>
      provider.api === "llama"
        ? listLocal(languageModels, provider, signal)
        : requests.list(provider, signal),
    editorModels: () => parts.editor.list(),
  });
  const localWindows = new LocalWindows(languageModels, clock);
  const windowOf = async (provider: ProviderSettings, model: string): Promise<number | null | undefined> => {
    if (provider.api === "llama") return await localWindows.of(provider, model);
    const ofScript =
      provider.api === "scripted" ? await scripts.contextTokens(provider.script ?? "") : undefined;
    return ofScript ?? (await directory.contextTokens(provider, model));
  };
  return {
    secrets,
    placeholders: new Placeholders(randomHex),
    issued,
    usage,
    runtime,
    directory,
    egress,
    inference,
    pace: new RequestPace(clock),
    settings,
    choose: async (need) => {
      const known = await found.look(written());
      const chain = chainFor(need, known);
      if ("failure" in chain) return chain;
      const [model] = chain.models;
      const provider = known.providers[parseModelReference(model)?.provider ?? ""];
      const contextTokens = provider === undefined ? undefined : await windowOf(provider, model);
      return { model, contextTokens: contextTokens ?? assumedContextTokens };
    },
    isOfOtherRun: (model) => {
      const isRehearsed = model.startsWith(`${rehearsalProvider}/`);
      // A person's document may define a provider with this name.
      return script === undefined ? isRehearsed && !(rehearsalProvider in written().providers) : !isRehearsed;
    },
    isScripted: (model) =>
      written().providers[parseModelReference(model)?.provider ?? ""]?.api === "scripted",
    networkRules: async () => ({
      privateHosts: document().egress.private_hosts ?? [],
      providerHosts: providerHosts(namedProviders()),
    }),
  };
}

/** Returns the egress host's whole environment, by the user's document. */
export function environmentOfEgress(
  { proxy, no_proxy: noProxy, ca_file: caFile }: Configuration["egress"],
  places: Pick<ModelParts, "home" | "userFolder" | "environment">,
): Readonly<Record<string, string>> {
  return egressEnvironment(
    {
      ...(proxy === undefined ? {} : { proxy }),
      ...(noProxy === undefined ? {} : { noProxy }),
      ...(caFile === undefined ? {} : { caFile: absolute(caFile, places) }),
    },
    places.environment,
  );
}

/** The window of a model about which nothing is known: most have at least that. */
const assumedContextTokens = 32_768;

/** Returns what takes secrets out of the texts of an answer. */
function redactorOf(patterns: readonly PatternRule[]): AnswerRedactor {
  const scanner = scannerWith(patterns);
  const mark = (rule: string): string => `[secret: ${rule}]`;
  return { stream: () => scanner.stream(mark), replace: (text) => scanner.replace(text, mark) };
}

async function* streamOf(
  {
    requests,
    turns,
    clock,
    editor,
    environment,
    issued,
    languageModels,
    leakRules,
    scripts,
  }: Pick<ModelParts, "turns" | "clock" | "editor" | "environment"> &
    Pick<KernelModels, "issued"> & {
      readonly requests: ProviderRequests;
      readonly languageModels: LanguageModelClient;
      readonly scripts: ScriptFiles;
      leakRules(): readonly PatternRule[];
    },
  provider: ProviderSettings,
  request: ModelRequest,
  asker: Asker,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent, void> {
  switch (provider.api) {
    case "anthropic":
    case "openai":
    case "openai-chat":
    case "google":
    case "openai-compatible":
    case "ollama":
      return yield* requests.stream(provider, request, whoOf(asker), signal);
    case "scripted": {
      if (parseModelReference(request.model)?.model !== "script")
        return yield {
          type: "failed",
          failure: {
            class: "UnknownModel",
            message: `The provider ${provider.id} has only the model ${provider.id}/script. Write that in your lares.yaml.`,
          },
        };
      const script = await scripts.read(provider.script ?? "");
      if (typeof script === "string")
        return yield { type: "failed", failure: { class: "InvalidRequest", message: script } };
      // A rehearsal begins with all turns, and continues after a kernel's death.
      const run = provider.id === rehearsalProvider ? (rehearsalOf(environment)?.run ?? "") : "";
      return yield* scriptedAnswer(
        script.turns,
        request,
        asker.process,
        {
          isSpent: (turn) => turns.isSpent(provider.id, turn, script.digestOf(turn, run)),
          spend: (turn) => turns.spend(provider.id, turn, script.digestOf(turn, run)),
          wait: (ms, aborted) => waitUnlessAborted(clock, ms, aborted),
        },
        signal,
      );
    }
    case "editor":
      if (isUnattended(asker))
        return yield {
          type: "failed",
          failure: {
            class: "NoModel",
            message:
              "An editor's language models answer only while a person is at work, not schedules and background work. Route these to another provider in your lares.yaml.",
          },
        };
      // What an editor's models read leaves the machine too, by the editor.
      return yield* editor.stream(
        parseModelReference(request.model)?.model ?? "",
        await finishedInTurns(maskingRequest(request, issued.known, scannerWith(leakRules()))),
        signal,
      );
    case "llama":
      return yield* streamLocal(languageModels, provider, request, signal);
  }
}

/** True if the egress host asks it; the others answer in this process, at an editor or in the inference host. */
function isOnNetwork({ api }: ProviderSettings): boolean {
  return !["scripted", "editor", "llama"].includes(api);
}

/** What a person at an editor did not start must not spend what the editor's models cost them. */
function isUnattended({ process, isScheduled }: Asker): boolean {
  return isScheduled || process === "cortex" || process === "compaction";
}

/** Returns who asks, as traces name them: the agent, or the kernel itself. */
function whoOf({ agent }: Pick<Asker, "agent">): string {
  return agent === "" ? "kernel" : agent;
}

/** Relative paths begin at the user's document. */
function withPaths(
  provider: ProviderSettings,
  parts: Pick<ModelParts, "home" | "userFolder">,
): ProviderSettings {
  const { script, files } = provider;
  return {
    ...provider,
    ...(script === undefined ? {} : { script: absolute(script, parts) }),
    ...(files === undefined
      ? {}
      : {
          files: Object.fromEntries(
            Object.entries(files).map(([name, path]) => [name, absolute(path, parts)]),
          ),
        }),
  };
}

function absolute(path: string, { home, userFolder }: Pick<ModelParts, "home" | "userFolder">): string {
  return path === "~" || path.startsWith("~/") ? join(home, path.slice(1)) : resolve(userFolder, path);
}
