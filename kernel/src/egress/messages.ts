import type { ProviderApi, ProviderSettings } from "../base/vocabulary/model-settings.ts";
import type { ModelRequest } from "../base/vocabulary/model.ts";
import type { EgressRules } from "../policy/egress.ts";
import type { PatternRule } from "../secret-scan/rules.ts";
import type { KnownSecret } from "./known-secrets.ts";

export type Headers = readonly (readonly [name: string, value: string])[];

interface EgressLimits {
  /** From the request to the end of its answer. */
  readonly timeoutMs: number;
  /** Without a byte of the answer; time during which the kernel takes none does not count. */
  readonly idleMs: number;
  /** Bytes of the answer's body after decompression; the rest is cut off. */
  readonly maxBytes: number;
}

/** A placeholder in the request, and where its value may be sent. */
export interface Substitution {
  /** The secret's name. */
  readonly secret: string;
  readonly token: string;
  readonly value: string;
  readonly hosts: readonly string[];
  /** "header", "header:<name>", "query:<key>" or "body", as in `secrets/binding.ts`. */
  readonly in: string;
}

/** What the host does instead of sending the request as it is. The answer's body is one event as JSON on each line. */
export type ModelTask =
  | {
      readonly kind: "generate";
      readonly provider: ProviderSettings;
      readonly key: string | null;
      readonly request: ModelRequest;
    }
  | { readonly kind: "list"; readonly provider: ProviderSettings; readonly key: string | null };

/** A request to the host; the body follows it. */
export interface HostRequest {
  readonly method: string;
  readonly url: string;
  /** Headers of the connection itself (`host`, `connection`, `content-length` …) are not sent on. */
  readonly headers: Headers;
  readonly rules: EgressRules;
  readonly limits: EgressLimits;
  /** Values that must not leave the machine: secrets, which are refused in requests of agents and marked in those to models. */
  readonly known?: readonly KnownSecret[];
  readonly substitutions?: readonly Substitution[];
  /** Rules of the person's own, beside those that ship. */
  readonly patterns?: readonly PatternRule[];
  /** True for texts on their way to a model: secrets in the body are marked, and nothing is refused. */
  readonly masks?: boolean;
  readonly task?: ModelTask;
}

export interface EgressHead {
  readonly status: number;
  /** Names in lower case. Without `content-length` and `content-encoding`: the body is decompressed. */
  readonly headers: Headers;
  /** The targets of redirects, without queries. */
  readonly redirects: readonly { readonly host: string; readonly path: string }[];
  readonly viaProxy: boolean;
  /** Secrets whose placeholders the request had only where their values are not inserted; absent if there are none. */
  readonly unfilled?: readonly string[];
  /** For a task: the request that was sent. */
  readonly sent?: { readonly path: string; readonly bytes: number };
}

/** Why there is no answer, or no complete one. `mayHaveLeft`: whether bytes of the request may have been sent. */
export type EgressFailure = { readonly host: string; readonly mayHaveLeft: boolean } & (
  | { readonly class: "Denied"; readonly reason: string }
  /** It holds what looks like a secret, or a known one. */
  | { readonly class: "Leak"; readonly rule: string; readonly where: "url" | "header" | "body" }
  | { readonly class: "Network" | "Timeout" | "Cancelled"; readonly message: string }
);

export type ToHost =
  | { readonly kind: "request"; readonly id: number; readonly request: HostRequest }
  | { readonly kind: "cancel"; readonly id: number }
  /** A request to a provider with this API follows soon. */
  | { readonly kind: "prepare"; readonly api: ProviderApi };

export type FromHost =
  | { readonly kind: "head"; readonly id: number; readonly head: EgressHead }
  | { readonly kind: "end"; readonly id: number; readonly isTruncated: boolean }
  | { readonly kind: "failed"; readonly id: number; readonly failure: EgressFailure };

/** Frames beside the words; their stream is the request's id. */
export const frameTypes = { chunk: 2, credit: 3 } as const;
