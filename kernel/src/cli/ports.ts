import type { ModelService, SecretService, UsageService } from "../services/models.ts";
import type { PackageServices } from "../services/packages.ts";
import type { RuleResult } from "./render/conformance.ts";
import type { Finding } from "./render/findings.ts";

/** A session with a workspace's kernel, after `initialize` and `initialized`. */
export interface KernelConnection extends AsyncDisposable {
  /** Returns the result, or rejects with a LaresError that has the catalogue's code. */
  request(method: string, params: object): Promise<unknown>;
  /** Calls the listener for every notification of the kernel, in order. */
  onNotification(listener: (method: string, params: unknown) => void): Disposable;
  /** Resolves with the reason when the connection is lost for good. */
  readonly closed: Promise<{ readonly reason: string }>;
}

export interface ConnectOptions {
  /** Absolute path of the workspace. */
  readonly folder: string;
  /**
   * As in `initialize`: true accepts the workspace's documents as they are now; false makes this session untrusted.
   */
  readonly trusted?: boolean;
  /** Called when the kernel answers nothing for two seconds, and with null when it answers again. */
  readonly silence?: (kernel: SilentKernel | null) => void;
}

/** A kernel that runs and answers nothing. */
export interface SilentKernel {
  readonly folder: string;
  /** Null while that is not known. */
  readonly pid: number | null;
}

/** A value of the configuration and its source. */
export interface ExplainedValue {
  /** Dotted, such as "approvals.auto_approve_below". */
  readonly key: string;
  readonly value: unknown;
  readonly source: "environment" | "workspace" | "user" | "defaults";
  /** The name of the variable, or file:line; empty if unknown. */
  readonly place: string;
}

interface ServeOptions {
  readonly stdio: boolean;
  readonly pipe?: string;
  readonly clientProcessId?: number;
  /** Keep the kernel running after the last client has left. */
  readonly keep: boolean;
}

interface AdoptableState {
  /** The path of the folder when the state was last used. */
  readonly before: string;
  /** The folder has no other state yet. */
  readonly isOnly: boolean;
}

/** A state that was brought over. */
export interface AdoptedState {
  readonly before: string;
  /** Where the state is that the folder had already; null if it had none. */
  readonly setAside: string | null;
}

/** The result of `stop`. */
interface StoppedKernel {
  /** Null if no kernel was running. */
  readonly pid: number | null;
  /** True if it did not end when asked and was killed. */
  readonly killed: boolean;
}

export interface ProbeResult {
  readonly ok: boolean;
  readonly detail: string;
}

export interface Explanation {
  readonly values: readonly ExplainedValue[];
  /** Sentences about environment variables that look like a setting but are not, or that have an invalid value. */
  readonly environmentFaults: readonly string[];
  /**
   * The names of folders and files that are asked about each time, whatever rules allow; "*" is any text. Additions of
   * this workspace, such as the folders of its extensions, are named by their paths.
   */
  readonly protected: readonly {
    readonly reason: string;
    readonly folders: readonly string[];
    readonly files: readonly string[];
  }[];
}

/** A model that can be fetched. */
interface ModelOffer {
  /** The value for `memory.embedder`. */
  readonly name: string;
  readonly title: string;
  readonly licence: string;
  /** Size of the download. */
  readonly megabytes: number;
}

interface ModelReady {
  /** Absolute path of the .onnx file. */
  readonly path: string;
  /** False if it existed already. */
  readonly fetched: boolean;
  /** True if the runtime for it is installed. */
  readonly runtime: boolean;
  /** The path of the person's own lares.yaml, whether it exists or not. */
  readonly document: string;
}

/** A model that an extension declares. */
export interface ExtensionModelListing {
  readonly extension: string;
  readonly name: string;
  readonly version: string;
  /** The most that its file has, mebibytes; 0 if it does not say. */
  readonly megabytes: number;
  /** Where it may be fetched from. */
  readonly hosts: readonly string[];
  readonly sha256?: string;
  readonly state: "fetched" | "partial" | "missing" | "unavailable";
  /** The size of the fetched part of its file. */
  readonly bytes: number;
  /** For `unavailable`: what its declaration lacks. */
  readonly problem?: string;
}

export interface ExtensionModelsPort {
  /** Returns the models of this extension, or of all that this folder's documents name. */
  list(extension?: string): Promise<readonly ExtensionModelListing[]>;
  /** Downloads a model unless it is there. The part from an interrupted download is kept for the next one. */
  fetch(
    model: Pick<ExtensionModelListing, "extension" | "name">,
    options: { readonly signal: AbortSignal; received(bytes: number): void },
  ): Promise<{ readonly path: string; readonly fetched: boolean; readonly bytes: number }>;
  /** True if the runtime for them is installed. */
  readonly runtime: boolean;
}

/** What concerns the user and no workspace. */
export interface UserServices {
  readonly models: ModelService;
  readonly usage: UsageService;
  readonly secrets: SecretService;
  /** The person's own document, which need not exist. */
  readonly documentPath: string;
  /** What is wrong, and where, with documents that are therefore not used. */
  readonly documentFaults: readonly string[];
}

/** A tensor by its name. A dimension is a number, or a name where any number fits. */
interface TensorForm<Dimension> {
  readonly name: string;
  readonly type: "float32" | "float64" | "int32" | "uint8";
  readonly dims: readonly Dimension[];
}

/** What the commands need from other rooms; provided by `main.ts`. */
export interface CliPorts {
  readonly version: string;
  /** Joins the workspace's kernel, or starts it. */
  connect(options: ConnectOptions): Promise<KernelConnection>;
  /** Returns the path of the user's own document, which applies to every workspace; null if the user has none. */
  userDocument(): Promise<string | null>;
  /** Returns the errors of one document (`lares.*` or `extension.*`) that can be found without running a kernel. */
  checkDocument(path: string): Promise<readonly Finding[]>;
  /**
   * Bundles or checks the program of the extension in this folder. Returns a sentence that says why it cannot run, or
   * null.
   */
  programFault(folder: string): Promise<string | null>;
  /** Returns TypeScript as JavaScript, or what is wrong with it and in which line, from 1. */
  stripTypes(
    source: string,
  ): Promise<{ readonly code: string } | { readonly fault: string; readonly line: number }>;
  /** Returns an .onnx file that takes these inputs and always gives these outputs. */
  constantModel(
    inputs: readonly TensorForm<number | string>[],
    outputs: readonly (TensorForm<number> & { readonly data: readonly number[] })[],
  ): Promise<Uint8Array>;
  /**
   * Tries a program against each rule of the guest ABI: that of the extension in `folder`, or the one in `file`. Absolute
   * paths. `onRule` is told the name of each rule before it is tried.
   */
  conformance(
    program: { readonly folder: string; readonly file: string | null },
    options: { readonly onRule: (rule: string) => void; readonly signal: AbortSignal },
  ): Promise<readonly RuleResult[]>;
  /** Returns the resolved configuration of the workspace, every value with its source. */
  explain(folder: string): Promise<Explanation>;
  /** Serves the protocol until the client leaves; returns the exit code of the process. */
  serve(options: ServeOptions): Promise<number>;
  /** Stops the kernel of the workspace that consists of these folders, even if it does not respond. Absolute paths. */
  stopKernel(folders: readonly string[]): Promise<StoppedKernel>;
  /** Returns the folder of the state, without starting anything. */
  stateHome(): string;
  /** Returns the folder of the workspace's own state, which is created if there is none. */
  stateOf(folder: string): Promise<string>;
  /** True if the folder has a state. */
  hasState(folder: string): Promise<boolean>;
  /** Returns the state of this folder from when it had another path that no longer exists; null if there is none. */
  adoptableState(folder: string): Promise<AdoptableState | null>;
  /** Makes that state the one of this folder, without what was allowed. Ends the kernels of both. */
  adoptState(folder: string): Promise<AdoptedState>;
  /** Starts a guest and waits for its answer. */
  probeSandbox(): Promise<ProbeResult>;
  /** Opens the user's models, usage and secrets, without a kernel, for as long as `use` runs. */
  withUserServices<Result>(use: (services: UserServices) => Promise<Result>): Promise<Result>;
  /** Opens the services for packages while `use` runs. */
  withPackages<Result>(use: (packages: PackageServices) => Promise<Result>): Promise<Result>;
  /** Opens the models of extensions while `use` runs. */
  withExtensionModels<Result>(use: (models: ExtensionModelsPort) => Promise<Result>): Promise<Result>;
  models(): readonly ModelOffer[];
  /** Downloads a model of `models()` to the person's cache. */
  fetchModel(name: string, signal: AbortSignal): Promise<ModelReady>;
  /** `examples/` of a source checkout; null without one. */
  readonly examplesFolder: string | null;
  /** `manifests/templates`. */
  readonly templatesFolder: string;
  /** The `@lares/sdk` with which programs are bundled. */
  readonly sdkFolder: string;
}
