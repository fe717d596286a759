import { Disposable } from "./events.ts";
import { record } from "./record.ts";
import { Uri } from "./values.ts";

/** A version whose secondary side bar has views of extensions. */
export const version = "1.117.0";

/** Addresses that were opened in a browser. */
export const openedAddresses: string[] = [];

export const env = {
  openExternal: async (uri: Uri): Promise<boolean> => openedAddresses.push(uri.toString()) > 0,
  clipboard: {
    writeText: async (text: string): Promise<void> => {
      record.clipboard = text;
    },
  },
};

/** A chat that the editor has, with what took part in it. */
export const chat = {
  participants: new Map<string, (...given: never[]) => Promise<unknown>>(),
  createChatParticipant(id: string, handler: (...given: never[]) => Promise<unknown>): Disposable {
    this.participants.set(id, handler);
    return new Disposable(() => this.participants.delete(id));
  },
};

interface FakeLensProvider {
  provideCodeLenses(document: never, token: never): unknown;
}

export const languages = {
  lensProviders: [] as FakeLensProvider[],
  registerCodeLensProvider(_selector: unknown, provider: FakeLensProvider): Disposable {
    this.lensProviders.push(provider);
    return new Disposable(() => {
      this.lensProviders = this.lensProviders.filter((other) => other !== provider);
    });
  },
};
