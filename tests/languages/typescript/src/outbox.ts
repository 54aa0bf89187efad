/** What is to be sent, in order: put things in at one end, and hand the other to a stream. */
export class Outbox<T> implements AsyncIterable<T> {
  private readonly waiting: T[] = [];
  private wake = () => {};

  put(item: T): void {
    this.waiting.push(item);
    this.wake();
  }

  async *[Symbol.asyncIterator](): AsyncIterator<T> {
    for (;;) {
      const item = this.waiting.shift();
      if (item !== undefined) yield item;
      else await new Promise<void>((resolve) => (this.wake = resolve));
    }
  }
}
