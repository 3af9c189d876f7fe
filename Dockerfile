# The page on port 7860, on the CPU. Build from a checkout that holds checkpoints/:
#   docker build -t attention-explorer . && docker run --rm -p 7860:7860 attention-explorer
# The digest is that of the image for every architecture; dependabot renews it.
FROM python:3.12-slim@sha256:78387bc3881b8273120a12ebe6c1ab22b018ccc2c9adf565ae1ac9b536e184ea

ENV PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1

RUN useradd --create-home --uid 1000 app
WORKDIR /home/app/explorer

# Packages first: this layer stays while only the code changes. The CPU build of torch, as `make run` takes it.
# Every other file is held to its hash.
COPY requirements.lock constraints.txt ./
RUN python -m pip install --upgrade pip -c constraints.txt \
    && python -m pip install --no-deps --index-url https://download.pytorch.org/whl/cpu \
        "torch==$(sed -n 's/^torch==//p' constraints.txt)+cpu" \
    && python -m pip install --no-deps --require-hashes -r requirements.lock

COPY LICENSE README.md app.py ./
COPY translator/ translator/
COPY assets/ assets/
COPY checkpoints/ checkpoints/

USER 1000
ENV GRADIO_SERVER_NAME=0.0.0.0 GRADIO_SERVER_PORT=7860
EXPOSE 7860
HEALTHCHECK --interval=30s --timeout=5s --start-period=180s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:7860/', timeout=4)"]
CMD ["python", "app.py"]
