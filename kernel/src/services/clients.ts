import { Emitter } from "../base/emitter.ts";
import { LaresError } from "../base/errors.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import type { Principal } from "../base/vocabulary/principal.ts";
import type { Status } from "../base/vocabulary/status.ts";
import type { TrustGrants, TrustQuestion } from "../base/vocabulary/trust.ts";
import type { OpenServices, Services } from "./ports.ts";

interface ClientsOptions {
  readonly services: Services;
  /** Reports how many clients all doors have: agents run while one of them is trusted. */
  readonly counted: (trusted: number, untrusted: number) => void;
}

/** The clients of all doors, and for each of them whether the workspace is trusted there. */
export class Clients {
  readonly #options: ClientsOptions;
  readonly #connected = new Set<Client>();

  constructor(options: ClientsOptions) {
    this.#options = options;
  }

  /** Returns a new client, for which `principal` asks. It is untrusted, and does not count, until it has begun. */
  connect(principal: Principal): Client {
    const client: Client = new Client(this.#options.services, principal, {
      began: () => void this.#connected.add(client),
      changed: () => this.#count(),
      left: () => void this.#connected.delete(client),
      count: () => this.#connected.size,
    });
    return client;
  }

  #count(): void {
    const trusted = [...this.#connected].filter((client) => client.trusted).length;
    this.#options.counted(trusted, this.#connected.size - trusted);
  }
}

interface ClientPorts {
  began(): void;
  /** Called when the client begins to count, changes its trust, or ends. */
  changed(): void;
  left(): void;
  /** Returns the number of clients of all doors. */
  count(): number;
}

/** One client of a door, until it is disposed: its access to all services. */
export class Client implements Disposable {
  /** The principal in whose name it asks. */
  readonly principal: Principal;
  /** Emits whether this client is trusted when that changes; not its initial state. */
  readonly trustChanged = new Emitter<boolean>();
  readonly #services: Services;
  readonly #ports: ClientPorts;
  #trusted = false;
  #isGone = false;

  constructor(services: Services, principal: Principal, ports: ClientPorts) {
    this.#services = services;
    this.principal = principal;
    this.#ports = ports;
  }

  get trusted(): boolean {
    return this.#trusted;
  }

  /** The services that need no trust. */
  get open(): OpenServices {
    return this.#services;
  }

  /** All services. Throws Untrusted if this client is not trusted. */
  get services(): Services {
    if (this.#trusted) return this.#services;
    throw new LaresError(
      "Untrusted",
      "This workspace is not trusted. A person has to accept what its documents ask for.",
    );
  }

  /**
   * Begins to count the client. True: the person accepts the workspace's documents as they are now. False: this
   * client is untrusted, whatever was accepted. Undefined: an earlier acceptance of the same documents applies.
   */
  async begin(trusted: boolean | undefined): Promise<void> {
    const { trust } = this.#services;
    if (trusted === true) await trust.accept(this.principal);
    this.#trusted = trusted ?? (await trust.reloadAndCheckAnswered());
    if (this.#isGone) return;
    this.#ports.began();
    this.#ports.changed();
  }

  status(): Status {
    return { ...this.#services.status.read(), trusted: this.#trusted, clients: this.#ports.count() };
  }

  async question(): Promise<TrustQuestion> {
    return { ...(await this.#services.trust.question()), trusted: this.#trusted };
  }

  /** The person at this client accepts the documents, as `TrustService.accept` says, and with them this client. */
  async accept(digest?: Hash, grants?: TrustGrants): Promise<void> {
    await this.#services.trust.accept(this.principal, digest, grants);
    this.#trust(true);
  }

  /** Revokes every acceptance of the person. The client becomes untrusted even if that could not be stored. */
  async revoke(): Promise<void> {
    try {
      await this.#services.trust.revoke(this.principal);
    } finally {
      this.#trust(false);
    }
  }

  [Symbol.dispose](): void {
    this.#isGone = true;
    this.#ports.left();
    this.#ports.changed();
  }

  #trust(trusted: boolean): void {
    this.#trusted = trusted;
    this.#ports.changed();
    this.trustChanged.emit(trusted);
  }
}
