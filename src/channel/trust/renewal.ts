/**
 * Renews the certificates of a cluster long before they end: the master's own, and over the channel those of the nodes.
 * The master's clock decides when. A node makes its new key itself and never gives it away. An interruption does no
 * harm: the old certificate is good until the node shows the new one.
 */
import { z } from 'zod';
import { withDeadline } from '../../loop/deadline.js';
import { Rounds } from '../../loop/rounds.js';
import { DroverError, messageOf } from '../../model/errors.js';
import type { Ambient } from '../../telemetry/ambient.js';
import type { CallPeer, Services } from '../protocol/calls.js';
import { isDueForRenewal } from './authority.js';
import type { ClusterMembers } from './members.js';

const NEW_KEY = 'new-key';
const NEW_CERTIFICATE = 'new-certificate';
/**
 * The delay of the first look, which also makes the certificate that a new master lacks. A node that has just started
 * has other work first.
 */
const FIRST_LOOK_MS = 10_000;
const LOOK_EVERY_MS = 3_600_000;
const CALL_MS = 30_000;

const keyAnswer = z.object({ publicKey: z.string().max(1000) });
const certificateParameters = z.object({ certificate: z.string().max(10_000) });

interface RenewalOptions extends Ambient {
  readonly members: ClusterMembers;
  /** The connected nodes. Nodes that are not members, such as the master's own, are left alone. */
  readonly connected: () => readonly string[];
  readonly callsOf: (nodeId: string) => CallPeer;
  /** Renews the master's own certificate when it is due. */
  readonly renewServer: () => Promise<void>;
}

export class Renewal extends Rounds {
  readonly #options: RenewalOptions;

  constructor(options: RenewalOptions) {
    super(options.clock, LOOK_EVERY_MS, FIRST_LOOK_MS);
    this.#options = options;
  }

  protected async round(): Promise<void> {
    const { connected, renewServer } = this.#options;
    await this.#attempt('of this master', renewServer);
    for (const nodeId of connected()) {
      if (this.stopping.aborted) return;
      await this.#attempt(`of node ${nodeId}`, () => this.#renewIfDue(nodeId));
    }
  }

  async #renewIfDue(nodeId: string): Promise<void> {
    const { members, callsOf, clock, logger } = this.#options;
    const member = await members.get(nodeId);
    if (member === undefined || !isDueForRenewal(member, clock.now())) return;
    const calls = callsOf(nodeId);
    const { publicKey } = keyAnswer.parse(await this.#call(calls, NEW_KEY, {}));
    const issued = await members.renew(nodeId, publicKey);
    await this.#call(calls, NEW_CERTIFICATE, { certificate: issued.certificate });
    await members.renewed(nodeId, issued);
    logger.info({ node: nodeId, endsAt: issued.endsAt }, `the certificate of node ${nodeId} was renewed`);
  }

  #call(calls: CallPeer, service: string, parameters: unknown): Promise<unknown> {
    const { stopping: signal } = this;
    const expired = (): DroverError =>
      new DroverError('DRV_CHANNEL_CALL_FAILED', `no answer to ${service} in ${CALL_MS / 1000} s`);
    return withDeadline({ limitMs: CALL_MS, clock: this.#options.clock, signal, expired }, (inner) =>
      calls.call(service, parameters, { signal: inner }),
    );
  }

  async #attempt(whose: string, action: () => Promise<void>): Promise<void> {
    try {
      await action();
    } catch (error) {
      if (this.stopping.aborted) return;
      this.#options.logger.warn(
        { err: error },
        `the certificate ${whose} could not be renewed: ${messageOf(error)}; trying again in an hour`,
      );
    }
  }
}

/**
 * The node's half. `takeCertificate` keeps the certificate, with the key that `makeKey` made last, for the next
 * connection.
 */
export function renewalServices(node: {
  makeKey(): string;
  takeCertificate(certificate: string): Promise<void>;
}): Services {
  return {
    [NEW_KEY]: async () => ({ publicKey: node.makeKey() }),
    [NEW_CERTIFICATE]: async (parameters) => {
      await node.takeCertificate(certificateParameters.parse(parameters).certificate);
      return {};
    },
  };
}
