// Requests to the service, with the key that this tab was given.
const STORE = "belman-key";

export class Problem extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

export const key = {
  get: () => sessionStorage.getItem(STORE),
  set: (value) => (value ? sessionStorage.setItem(STORE, value) : sessionStorage.removeItem(STORE)),
};

function headers(more = {}) {
  return key.get() ? { ...more, Authorization: `Bearer ${key.get()}` } : more;
}

async function refused(response) {
  const text = await response.text();
  try {
    return new Problem(response.status, JSON.parse(text).detail);
  } catch {
    return new Problem(response.status, `the service answered ${response.status}`);
  }
}

export async function call(method, path, body, more = {}) {
  const options = { method, headers: headers(body === undefined ? more : { ...more, "Content-Type": "application/json" }) };
  if (body !== undefined) options.body = JSON.stringify(body);
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    throw new Problem(0, "the service cannot be reached");
  }
  if (!response.ok) throw await refused(response);
  return response.json();
}

export const studyPath = (name) => `/api/studies/${encodeURIComponent(name)}`;

// Server-sent events, read by fetch because EventSource cannot carry a key. Goes on for ever, whatever happens to the service.
export function listen(path, heard, state) {
  let wait = 500;
  let stopped = false;
  let abort = new AbortController();

  async function once() {
    abort = new AbortController();
    const response = await fetch(path(), { headers: headers({ Accept: "text/event-stream" }), signal: abort.signal });
    if (!response.ok) throw await refused(response);
    state("live");
    wait = 500;
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const parts = (rest + value).split("\n\n");
      rest = parts.pop();
      for (const part of parts) {
        const name = /^event: (.*)$/m.exec(part)?.[1];
        const data = /^data: (.*)$/m.exec(part)?.[1];
        if (name && data) heard(name, JSON.parse(data));
      }
    }
  }

  (async () => {
    while (!stopped) {
      try {
        await once();
      } catch (error) {
        if (stopped) return;
        if (error instanceof Problem && [401, 403, 404].includes(error.status)) {
          state("refused", error);
          return;
        }
        if (error.name !== "AbortError") {
          state("lost");
          await new Promise((done) => setTimeout(done, wait));
          wait = Math.min(2 * wait, 5000);
        }
      }
    }
  })();

  return {
    again: () => abort.abort(),
    stop: () => {
      stopped = true;
      abort.abort();
    },
  };
}
