import ipaddr from "ipaddr.js";
import { LaresError, limitExceeded } from "../base/errors.ts";
import { silentLog } from "../base/log.ts";
import type { Configuration } from "../documents/configuration.ts";
import { modelSettings } from "../documents/model-settings.ts";
import { EgressError } from "../egress/client/answer.ts";
import { EgressClient } from "../egress/client/egress-client.ts";
import { namesTarget, placeName, targetOf } from "../policy/egress.ts";
import { systemClock } from "../platform/clock.ts";
import { homeOf, userConfigFolder, type Environment } from "../platform/files/state-folder.ts";
import { environmentOfEgress } from "../outside/open-models.ts";
import { providerHosts } from "../outside/provider-requests.ts";

interface DownloadRequest {
  readonly url: string;
  readonly maxBytes: number;
  /** The name of the download in messages: "the index", "the package". */
  readonly what: string;
  readonly accept?: string;
  /**
   * Addresses that the person named: on the command line, or in their own settings. These may be of this machine or its network;
   * whatever a server names may not, unless that server is one of the person's private hosts itself.
   */
  readonly named: readonly string[];
  readonly signal: AbortSignal;
  received?(bytes: number): void;
}

export type Download = (request: DownloadRequest) => Promise<Uint8Array>;

/** A slow line may take this long for a package; a silent server ends it sooner. */
const timeoutMs = 15 * 60_000;
const idleMs = 60_000;

interface DownloadOptions {
  readonly environment: Environment;
  readonly opened: AsyncDisposableStack;
  /** The settings of the person's documents. */
  configuration(): Promise<Pick<Configuration, "egress" | "models">>;
}

/** Returns what downloads files for a person through an egress host, which is started with the first. */
export function createDownloads({ environment, opened, configuration }: DownloadOptions): Download {
  let client: Promise<{
    readonly egress: EgressClient;
    readonly settings: Pick<Configuration, "egress" | "models">;
  }>;
  const open = async (): typeof client => {
    const settings = await configuration();
    const places = { environment, home: homeOf(environment), userFolder: userConfigFolder(environment) };
    const egress = opened.use(
      new EgressClient({
        clock: systemClock,
        log: silentLog,
        environment: () => environmentOfEgress(settings.egress, places),
        trace: () => undefined,
      }),
    );
    return { egress, settings };
  };
  return async ({ url, maxBytes, what, accept = "*/*", named, signal, received }) => {
    const { egress, settings } = await (client ??= open());
    try {
      const answer = await egress.request({
        who: "lares",
        method: "GET",
        url,
        headers: [["accept", accept]],
        rules: {
          allowedHosts: [],
          anyPublicHost: true,
          privateHosts: [
            ...hostsInside(settings.egress.private_hosts ?? [], named.length === 0 ? [url] : named),
            ...named.flatMap(localHost),
          ],
          providerHosts: providerHosts(Object.values(modelSettings(settings.models).providers)),
        },
        limits: { timeoutMs, idleMs, maxBytes },
        signal,
      });
      if (answer.status !== 200)
        throw new LaresError(
          answer.status === 404 ? "NotFound" : "NetworkError",
          `${url} answered with status ${answer.status} instead of ${what}.`,
          { status: answer.status },
        );
      const chunks: Uint8Array[] = [];
      let bytes = 0;
      let end = await answer.body.next();
      for (; end.done !== true; end = await answer.body.next()) {
        chunks.push(end.value);
        received?.((bytes += end.value.length));
      }
      if (end.value.isTruncated)
        throw limitExceeded(
          "maxBytes",
          maxBytes,
          `${what} at ${url} has more than ${maxBytes} bytes, so it is not used.`,
        );
      return Buffer.concat(chunks);
    } catch (error) {
      if (!(error instanceof EgressError)) throw error;
      throw new LaresError("NetworkError", `${what} could not be had from ${url}: ${error.message}`, {
        class: error.failure.class,
      });
    }
  };
}

/**
 * Returns the person's private hosts if the request starts at one of them, and otherwise none: a public server must not be able
 * to redirect the request to devices in the person's network.
 */
function hostsInside(hosts: readonly string[], begins: readonly string[]): readonly string[] {
  const isInside = begins.some((address) => {
    const target = targetOf(address);
    return !("reason" in target) && namesTarget(target, hosts);
  });
  return isInside ? hosts : [];
}

/** Returns the host if the address is a literal IP address of this machine or network; a name that resolves to one does not count. */
function localHost(url: string): string[] {
  const target = targetOf(url);
  if ("reason" in target) return [];
  const isLocal = ipaddr.isValid(target.host) || target.host === "localhost";
  if (!isLocal) return [];
  // Exactly this port: another server there was not named.
  const host = target.host.includes(":") ? `[${target.host}]` : target.host;
  return [`${host}:${target.port}`];
}

/** Returns an address for messages, without user name, query and fragment. */
export function shownAddress(url: string): string {
  const target = targetOf(url);
  return "reason" in target ? target.host : `${target.scheme}://${placeName(target)}${target.path}`;
}
