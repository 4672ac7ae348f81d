// Explorers without a kernel: a picture for each place of the sliders, drawn when the site was made.
document.addEventListener("DOMContentLoaded", () => {
  for (const box of document.querySelectorAll(".course-sliders")) {
    const files = JSON.parse(box.dataset.files);
    const sliders = [...box.querySelectorAll("input")];
    const values = sliders.map((slider) => JSON.parse(slider.dataset.values));
    const picture = box.previousElementSibling;
    const show = () => {
      const place = sliders.reduce((sum, slider, i) => sum * values[i].length + +slider.value, 0);
      picture.src = files[place];
      sliders.forEach((slider, i) => {
        slider.setAttribute("aria-valuetext", values[i][slider.value]);
        slider.nextElementSibling.textContent = values[i][slider.value];
      });
    };
    const load = () => files.forEach((file) => { new Image().src = file; });
    box.addEventListener("pointerover", load, { once: true });
    box.addEventListener("focusin", load, { once: true });
    box.addEventListener("input", show);
    show();
  }
});
