import type { Caller } from "../../agents/ports.ts";
import type { SharedData } from "../../memory/shared-data.ts";
import type { GuestServices } from "../../protocol/guest/v1/calls.ts";
import { actionServices } from "./actions.ts";
import { type AgentPorts, agentServices } from "./agents.ts";
import { blobServices } from "./blobs.ts";
import { type EventPorts, eventServices } from "./events.ts";
import { type JobPorts, jobServices } from "./jobs.ts";
import { followForeign, type ForeignPorts } from "./foreign.ts";
import { type InferPorts, inferServices } from "./infer.ts";
import { hostMemory, type HostMemoryPorts } from "./memory.ts";
import { type NotifyPorts, notifyServices } from "./notify.ts";
import { type OutsidePorts, outsideServices } from "./outside.ts";
import { sharedServices } from "./shared.ts";
import { type ToolPorts, toolServices } from "./tools.ts";
import { type TracePorts, traceServices } from "./trace.ts";
import { type TypePorts, typeServices } from "./types.ts";
import { type VdfsPorts, vdfsServices } from "./vdfs.ts";

export interface GuestServicePorts
  extends VdfsPorts, AgentPorts, ToolPorts, EventPorts, NotifyPorts, TracePorts, TypePorts {
  readonly memories: HostMemoryPorts;
  readonly outside: OutsidePorts;
  readonly infer: InferPorts;
  readonly sharedData: SharedData;
  readonly jobs: JobPorts;
  readonly foreign: ForeignPorts;
}

/**
 * The guest ABI's methods, one file for each family, each forwarded to the room that implements it. Shape and
 * permission are already checked; the handlers restrict the results to what the caller may see.
 */
export function createGuestServices(ports: GuestServicePorts): GuestServices<Caller> {
  const services: GuestServices<Caller> = {
    ...vdfsServices(ports),
    ...hostMemory(ports.memories),
    ...actionServices(ports),
    ...jobServices(ports.jobs),
    ...agentServices(ports),
    ...toolServices(ports),
    ...eventServices(ports),
    ...sharedServices(ports.sharedData),
    ...typeServices(ports),
    ...notifyServices(ports),
    ...outsideServices(ports.outside),
    ...inferServices(ports.infer),
    ...blobServices,
    ...traceServices(ports),
  };
  return followForeign(services, ports.foreign);
}
