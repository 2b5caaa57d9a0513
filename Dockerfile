# A lab server, or one assistant's server without a Python of its own. Reports are mounted at /reports, read-only:
#
#   docker build -t ttnn-mcp .
#   docker run -i --rm -v /data/reports:/reports:ro ttnn-mcp                               over stdin and stdout
#   docker run --rm -p 8765:8765 -v /data/reports:/reports:ro -v "$PWD/tokens:/tokens:ro" ttnn-mcp \
#       serve --http 0.0.0.0:8765 --token-file /tokens                                     for a lab
FROM python:3.13-slim AS built

# the wheel, by the pinned build tools; this stage is thrown away
COPY . /source
RUN sed '/^# --- check/,$d' /source/constraints.txt > /pins.txt \
 && pip install --no-cache-dir --require-hashes --no-deps -r /pins.txt \
 && pip wheel --no-cache-dir --no-deps --no-build-isolation --wheel-dir /built /source \
 && sed '/^# --- test/,$d' /source/constraints.txt > /built/pins.txt

FROM python:3.13-slim

RUN useradd --create-home --uid 1000 ttnn
COPY --from=built /built /built
RUN pip install --no-cache-dir --require-hashes --no-deps -r /built/pins.txt \
 && pip install --no-cache-dir --no-deps /built/*.whl \
 && rm -rf /built

USER ttnn
# made by its owner: Docker gives root a volume whose folder the image lacks
RUN mkdir -p /home/ttnn/.local/state/ttnn-mcp
VOLUME ["/home/ttnn/.local/state/ttnn-mcp"]
ENTRYPOINT ["ttnn-mcp", "--root", "/reports"]
