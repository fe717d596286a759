/**
 * Entry of the egress host: the only process of Lares that opens connections to anything but its own sockets. It has
 * neither files nor workers, and of the environment only the variables for proxies and certificates.
 */
import { lookup } from "node:dns/promises";
import process from "node:process";
import { frame, readCount } from "../../platform/children/frames.ts";
import { serveParent } from "../../platform/children/parent.ts";
import { egressBounds as bounds } from "../bounds.ts";
import { type FromHost, frameTypes, type ToHost } from "../messages.ts";
import { Connections } from "./connections.ts";
import { EgressHost } from "./host.ts";

const { HTTPS_PROXY: proxyUrl = "", NO_PROXY: except = "" } = process.env;
const host = new EgressHost({
  connections: new Connections({
    resolve: (name) => lookup(name, { all: true, verbatim: true }),
    proxy:
      proxyUrl === ""
        ? null
        : { url: proxyUrl, except: except.split(/[\s,]+/).filter((name) => name !== "") },
  }),
  send: (words) => parent.send(words),
  sendChunk: (id, bytes) => parent.write(...frame(frameTypes.chunk, id, bytes)),
});
const parent = serveParent<FromHost, ToHost>({
  maxFrameBytes: bounds.maxFrameBytes,
  // The bytes are valid only during this call.
  receive: (words, bytes) => host.obey(words, bytes.slice()),
  receiveFrame(type, id, payload) {
    if (type !== frameTypes.credit) throw new RangeError(`A frame of unknown type ${type}.`);
    host.grant(id, readCount(payload));
  },
});
parent.ready();
