import { isLaresError } from "../base/errors.ts";
import type { ProviderSettings } from "../base/vocabulary/model-settings.ts";
import type { ModelEvent, ModelFailure, ModelRequest } from "../base/vocabulary/model.ts";
import type { EgressRequest } from "../egress/client/answer.ts";
import type { EgressClient } from "../egress/client/egress-client.ts";
import { listFromProvider, streamFromProvider } from "../egress/client/task.ts";
import type { ModelTask } from "../egress/messages.ts";
import { providerAddressFault } from "../models/provider-address.ts";
import { isLocalProvider } from "../models/routing.ts";
import type { ListedModel } from "../models/directory.ts";
import { namesTarget, targetOf } from "../policy/egress.ts";
import type { Environment } from "../platform/files/state-folder.ts";
import { type ResolvedSecret, secretVariablePrefix, type Secrets } from "../secrets/secrets.ts";
import { defaultBaseUrls } from "../documents/schema/models.ts";
import type { IssuedSecrets } from "./issued-secrets.ts";

interface ProviderRequestPorts {
  readonly egress: EgressClient;
  readonly secrets: Pick<Secrets, "resolve">;
  readonly issued: IssuedSecrets;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The person's `egress.private_hosts`. */
  privateHosts(): readonly string[];
  /** The providers that there are: an address of one is open to that one only. */
  providers(): readonly ProviderSettings[];
}

/** An answer of a thinking model may take this long. */
const answerLimits = { timeoutMs: 30 * 60_000, idleMs: 5 * 60_000, maxBytes: 64 * 1024 * 1024 };
const listLimits = { timeoutMs: 10_000, idleMs: 10_000, maxBytes: 4 * 1024 * 1024 };

/** The key of a provider, or why there is none. */
type KeyResult = { readonly key: string | null } | { readonly failure: ModelFailure };

/** Variables of the environment with keys, each only for its provider's own host. */
const keyVariables: Readonly<Partial<Record<ProviderSettings["api"], string>>> = {
  anthropic: "ANTHROPIC_API_KEY",
  openai: "OPENAI_API_KEY",
  "openai-chat": "OPENAI_API_KEY",
  google: "GEMINI_API_KEY",
};

/** Returns the environment for a program that is not Lares' own: without values of secrets and without keys. */
export function environmentWithoutSecrets(environment: Environment): Environment {
  const keys: ReadonlySet<string> = new Set(Object.values(keyVariables));
  return Object.fromEntries(
    Object.entries(environment).filter(
      ([name]) => !keys.has(name.toUpperCase()) && !name.toUpperCase().startsWith(secretVariablePrefix),
    ),
  );
}

/** Requests to the providers that are reached by the network. */
export class ProviderRequests {
  readonly #ports: ProviderRequestPorts;

  constructor(ports: ProviderRequestPorts) {
    this.#ports = ports;
  }

  /** Makes one attempt; ends with `done` or `failed`. */
  async *stream(
    provider: ProviderSettings,
    request: ModelRequest,
    who: string,
    signal: AbortSignal,
  ): AsyncGenerator<ModelEvent, void> {
    const found = await this.key(provider);
    if ("failure" in found) return yield { type: "failed", failure: found.failure };
    const task: ModelTask = { kind: "generate", provider, key: found.key, request };
    yield* streamFromProvider(
      this.#ports.egress,
      await this.#requestFor(provider, task, who, answerLimits, signal),
    );
  }

  async list(provider: ProviderSettings, signal: AbortSignal): Promise<readonly ListedModel[]> {
    const found = await this.key(provider);
    if ("failure" in found) throw new Error(found.failure.message);
    const task: ModelTask = { kind: "list", provider, key: found.key };
    return await listFromProvider(
      this.#ports.egress,
      await this.#requestFor(provider, task, "kernel", listLimits, signal),
    );
  }

  async key(provider: ProviderSettings): Promise<KeyResult> {
    const { id, api, secret, baseUrl = "" } = provider;
    // First, because what is said about a key names the address's host.
    const fault = provider.baseUrl === undefined ? null : providerAddressFault(baseUrl);
    if (fault !== null)
      return {
        failure: { class: "NoModel", message: `The provider "${id}" cannot be reached. ${fault}` },
      };
    const isOwnHost = isBuiltIn(provider);
    if (secret === undefined) {
      const variable = keyVariables[api];
      const key = isOwnHost && variable !== undefined ? (this.#ports.environment[variable] ?? "") : "";
      if (key !== "") return this.#keyOf(variable ?? "", key, `Set ${variable} again.`);
      if (!isOwnHost || variable === undefined) return { key: null };
      return noKey(
        `The provider ${id} has no key. Run "lares secrets set ${id} --host ${hostOf(baseUrl)}", and write key: { secret: ${id} } in your lares.yaml.`,
      );
    }
    const found = await this.#resolve(secret, baseUrl);
    if ("failure" in found) return found;
    const { hosts, value, in: place, source } = found.secret;
    const target = targetOf(baseUrl);
    const isBound = !("reason" in target) && namesTarget(target, hosts);
    // A value of the environment that is stored nowhere has no hosts of its own; the person's document names this one.
    if (!isBound && !(source === "environment" && hosts.length === 0))
      return noKey(
        `The secret "${secret}" is bound to ${hosts.join(", ")}, and not to ${hostOf(baseUrl)}. Store it again: lares secrets set ${secret} --host ${hostOf(baseUrl)}`,
      );
    if (!place.startsWith("header"))
      return noKey(
        `The secret "${secret}" may stand in ${place} only, and a provider's key is sent in a header. Store it again: lares secrets set ${secret} --host ${hostOf(baseUrl)}`,
      );
    return this.#keyOf(
      secret,
      value,
      `Store it again: lares secrets set ${secret} --host ${hostOf(baseUrl)}`,
    );
  }

  #keyOf(name: string, value: string, remedy: string): KeyResult {
    const key = this.#ports.issued.issue(name, value);
    // Errors about headers quote them, and no longer word for word.
    return /^[ -~\u00a0-\u00ff]+$/.test(key)
      ? { key }
      : noKey(`The key "${name}" has characters that no request can carry. ${remedy}`);
  }

  async #resolve(
    name: string,
    baseUrl: string,
  ): Promise<{ readonly secret: ResolvedSecret } | { readonly failure: ModelFailure }> {
    try {
      return { secret: await this.#ports.secrets.resolve(name) };
    } catch (error) {
      if (isLaresError(error, "NotFound"))
        return noKey(
          `The secret "${name}" is not stored. Run: lares secrets set ${name} --host ${hostOf(baseUrl)}`,
        );
      if (isLaresError(error)) return noKey(error.message);
      throw error;
    }
  }

  async #requestFor(
    provider: ProviderSettings,
    task: ModelTask,
    who: string,
    limits: EgressRequest["limits"],
    signal: AbortSignal,
  ): Promise<EgressRequest> {
    const { issued, privateHosts, providers } = this.#ports;
    const { id, baseUrl = "" } = provider;
    return {
      who,
      method: task.kind === "list" ? "GET" : "POST",
      url: baseUrl,
      headers: [],
      rules: {
        allowedHosts: [hostOf(baseUrl)],
        privateHosts: privateHosts(),
        providerHosts: providerHosts(providers()),
        provider: id,
      },
      limits,
      known: issued.known,
      task,
      signal,
    };
  }
}

/** Returns the endpoints that the person named themselves, which may be inside their network. */
export function providerHosts(
  providers: readonly ProviderSettings[],
): readonly { readonly provider: string; readonly host: string }[] {
  return providers.flatMap((provider) => {
    const { id, baseUrl } = provider;
    if (baseUrl === undefined || (isBuiltIn(provider) && !isLocalProvider(provider))) return [];
    return [{ provider: id, host: endpointOf(baseUrl) }];
  });
}

/** True for the address that a provider has unless the person names another one. */
function isBuiltIn({ api, baseUrl }: ProviderSettings): boolean {
  return api in defaultBaseUrls && baseUrl === defaultBaseUrls[api as keyof typeof defaultBaseUrls];
}

const noKey = (message: string): { readonly failure: ModelFailure } => ({
  failure: { class: "NoKey", message },
});

/** Returns the host with its port, also the scheme's own: other ports of the machine are not the provider's. */
function endpointOf(baseUrl: string): string {
  const url = URL.parse(baseUrl);
  if (url === null) return "";
  return `${url.hostname}:${url.port || (url.protocol === "http:" ? "80" : "443")}`;
}

/** Returns the host as rules name it, with its port if the address has one. */
function hostOf(baseUrl: string): string {
  return URL.parse(baseUrl)?.host ?? "";
}
