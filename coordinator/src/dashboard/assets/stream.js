// A reader of server-sent events that survives dropped connections, sleep and restarts. Written with fetch and not with
// EventSource, since that hides the status (is the job unknown, or the server away?) and the comment lines that prove
// a silent connection alive.

/** The server writes at least a comment each 10 s; after this much silence the connection is taken for dead. */
const SILENCE_MS = 25_000;
const BACKOFF_MS = [250, 500, 1000, 2000, 4000, 8000];
/** A message longer than this is no message of ours. */
const MAX_MESSAGE_CHARS = 32 << 20;

/**
 * @typedef {object} StreamOptions
 * @property {() => Promise<string>} address asked for each connection, so that it can carry the place to go on from
 * @property {(data: any, id: string|null) => void} message called with each message's JSON
 * @property {(state: 'connecting'|'live'|'waiting'|'refused'|'suspended'|'closed', detail: {status?: number, message?: string, retryAt?: number}) => void} state
 * @property {() => void} [heard] called whenever anything arrives
 */

export class Stream {
  #options;
  #controller = null;
  #closed = false;
  #failures = 0;
  #timer = 0;
  #watchdog = 0;

  /** @param {StreamOptions} options */
  constructor(options) {
    this.#options = options;
    this.#connect();
  }

  /** Ends it for good. */
  close() {
    this.#closed = true;
    this.#stop();
    this.#options.state('closed', {});
  }

  /** Gives the connection up until `reconnect`. */
  suspend() {
    this.#stop();
    this.#options.state('suspended', {});
  }

  /** Leaves the connection that there is and makes a new one at once. */
  reconnect() {
    if (this.#closed) return;
    this.#stop();
    this.#failures = 0;
    this.#connect();
  }

  #stop() {
    clearTimeout(this.#timer);
    clearTimeout(this.#watchdog);
    this.#controller?.abort();
    this.#controller = null;
  }

  async #connect() {
    const controller = new AbortController();
    this.#controller = controller;
    this.#options.state('connecting', {});
    this.#watch(controller);
    let detail = {};
    try {
      const address = await this.#options.address();
      if (this.#controller !== controller) return;
      const response = await fetch(address, {
        headers: { accept: 'text/event-stream' },
        cache: 'no-store',
        signal: controller.signal,
      });
      if (!response.ok) {
        const body = await response.json().catch(() => null);
        detail = { status: response.status, message: body?.error?.message };
        // What is asked for does not exist: asking again would not help.
        if (response.status === 404 || response.status === 400) {
          clearTimeout(this.#watchdog);
          this.#controller = null;
          this.#options.state('refused', detail);
          return;
        }
      } else {
        this.#failures = 0;
        this.#options.state('live', {});
        await this.#read(response.body, controller);
      }
    } catch {
      // Aborted by us, or the connection broke: both are dealt with below.
    }
    if (this.#closed || this.#controller !== controller) return;
    this.#stop();
    this.#wait(detail);
  }

  #wait(detail) {
    const base = BACKOFF_MS[Math.min(this.#failures, BACKOFF_MS.length - 1)];
    // Jitter: a restarted coordinator must not meet all its viewers in the same instant.
    const delay = base * (0.75 + Math.random() / 2);
    this.#failures += 1;
    this.#options.state('waiting', { ...detail, retryAt: Date.now() + delay });
    this.#timer = setTimeout(() => this.#connect(), delay);
  }

  #watch(controller) {
    clearTimeout(this.#watchdog);
    this.#watchdog = setTimeout(() => controller.abort(), SILENCE_MS);
  }

  async #read(body, controller) {
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    for (;;) {
      const { value, done } = await reader.read();
      if (done || this.#controller !== controller) return;
      this.#watch(controller);
      this.#options.heard?.();
      text += value;
      if (text.length > MAX_MESSAGE_CHARS) throw new Error('a message without an end');
      if (!/\r?\n\r?\n/.test(text)) continue;
      const messages = text.split(/\r?\n\r?\n/);
      // What follows the last blank line is the beginning of the next message.
      text = messages.pop();
      for (const message of messages) {
        // A message may have led to this stream's end.
        if (this.#controller !== controller) return;
        this.#deliver(message);
      }
    }
  }

  #deliver(message) {
    let id = null;
    const data = [];
    for (const line of message.split(/\r?\n/)) {
      if (line.startsWith('id:')) id = line.slice(3).trim();
      else if (line.startsWith('data:')) data.push(line.slice(5).trimStart());
    }
    if (data.length === 0) return;
    try {
      this.#options.message(JSON.parse(data.join('\n')), id);
    } catch (error) {
      // A fault of ours must be seen, and must not end the stream.
      reportError(error);
    }
  }
}
