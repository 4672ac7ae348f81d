"""On a machine with a GPU: agents of `test_device.py` train there as on the CPU, to rounding."""

import numpy as np
import pytest
import torch
from test_device import ALL, KINDS, STEPS, plain, tensors_of
from torch.testing import assert_close

from helpers.envs.make import make_env

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU here")


def check(agent, device, cpu):
    assert {each.device.type for each in tensors_of(agent)} == {device}
    for one, other in zip(tensors_of(agent), tensors_of(cpu), strict=True):
        assert_close(one.cpu(), other, rtol=1e-3, atol=1e-4)
    obs, _ = make_env(cpu.env_source).reset(seed=0)
    np.testing.assert_allclose(agent.predict(obs), cpu.predict(obs), atol=1e-3)


@ALL
def test_a_training_on_a_gpu(make):
    check(plain(make(device="cuda")).learn(STEPS), "cuda", plain(make()).learn(STEPS))


@pytest.mark.parametrize("name", ["td3-normal", "sac-pixels", "ppo-gaussian", "ddpgfd"])
def test_a_file_goes_on_elsewhere(tmp_path, name):
    make, path = KINDS[name], tmp_path / "agent.pt"
    whole = plain(make()).learn(2 * STEPS)
    for saved_on, loaded_on in [("cuda", "cpu"), ("cpu", "cuda")]:
        plain(make(device=saved_on)).learn(STEPS).save(path, replay=True)
        again = plain(type(whole).load(path, whole.env_source, device=loaded_on))
        check(again.learn(STEPS), loaded_on, whole)
