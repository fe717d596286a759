import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { isAlwaysExcluded } from "./ignore-rules.ts";
import { workspaceTimes } from "./limits.ts";
import type { Place } from "./places.ts";

interface RootCheckPorts {
  readonly places: readonly Place[];
  readonly clock: Clock;
  readonly log: Log;
  /** The root exists again, or another folder is in its place: it has to be watched and scanned again. */
  returned(place: Place): void;
}

/**
 * Checks periodically whether each root is still the folder that is watched, because no system reports the removal of a
 * watched folder that is held open. While a root is missing, nothing beneath it is looked at, so nothing beneath it
 * counts as deleted.
 */
export class RootCheck implements Disposable {
  readonly #ports: RootCheckPorts;
  readonly #gone = new Set<Place>();
  #timer: Disposable;

  constructor(ports: RootCheckPorts) {
    this.#ports = ports;
    this.#timer = this.#arm();
  }

  [Symbol.dispose](): void {
    this.#timer[Symbol.dispose]();
  }

  #arm(): Disposable {
    return this.#ports.clock.timer(workspaceTimes.rootCheckMs, () => {
      this.#timer = this.#arm();
      this.look();
    });
  }

  /** Looks now: a root may go and return between two checks, and what others lost meanwhile has to be found again. */
  look(): void {
    for (const place of this.#ports.places) this.#look(place);
  }

  #look(place: Place): void {
    const state = place.reader.rootState();
    if (state === "root" && !this.#gone.has(place)) return;
    if (state === "missing" || (state === "other" && isMountPoint(place))) return this.#isGone(place);
    this.#gone.delete(place);
    place.reader.renew();
    this.#ports.log.info("The workspace folder was replaced or is available again; it is scanned.", {
      root: place.reader.root,
    });
    this.#ports.returned(place);
  }

  #isGone(place: Place): void {
    if (this.#gone.has(place)) return;
    this.#gone.add(place);
    this.#ports.log.warn(
      "The workspace folder is missing; its index is kept until the folder is available again.",
      {
        root: place.reader.root,
      },
    );
  }
}

/** An empty folder that had entries before is probably the mount point of an unmounted disk. */
function isMountPoint({ node, reader }: Place): boolean {
  return node.children?.size !== 0 && reader.namesAtRoot().every(isAlwaysExcluded);
}
